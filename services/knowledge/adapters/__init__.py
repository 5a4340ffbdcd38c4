"""The database, the folders and the files of knowledge."""
