"""Pure rules of the gateway: which tools there are, whose project is meant, how answers are written."""
