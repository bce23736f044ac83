"""Read rows from files: CSV in any usual encoding and delimiter, Excel workbooks, GTFS feeds."""
