"""What the integrations share: fields of batches, and passes over a reader."""
