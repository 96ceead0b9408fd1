"""The page that a browser sees at `/`: jobs as they run, read from the record and never changed from here."""
