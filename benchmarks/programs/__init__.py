"""What benchmarks run in processes of their own: training programs, peers, bare XGBoost."""
