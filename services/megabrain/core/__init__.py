"""What megabrain knows without touching anything: notes, activities, the map of contents, artifacts."""
