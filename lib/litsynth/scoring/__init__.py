"""Scoring: from reports, responses and gold to score rows and evaluation records."""
