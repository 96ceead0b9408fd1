"""Bandstand beside its peers and beside bare XGBoost, measured side by side in one run."""
