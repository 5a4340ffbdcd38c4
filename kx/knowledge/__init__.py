"""Knowledge bases and memory at the command: asking the service, files in and out, words on a terminal."""
