"""Own the file system: walks and events become facts about files."""
