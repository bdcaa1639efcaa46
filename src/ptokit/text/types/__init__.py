"""Types as text: every spelling read, the form's own printed."""
