"""What a user is told: places in text, diagnostics, the catalogue of their slugs."""
