"""Exports: the same coding without this software: SQL, a dbt project, ARX's files, a list."""
