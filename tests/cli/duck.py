"""DuckDB by its C interface, to write the files that kqd reads: no Python module of it is packaged for Debian."""

import ctypes


class _Result(ctypes.Structure):
    _fields_ = [("counts", ctypes.c_uint64 * 3), ("columns", ctypes.c_void_p), ("error", ctypes.c_char_p),
                ("data", ctypes.c_void_p)]


class Duck:
    """A database in memory."""

    def __init__(self, library):
        self._library = ctypes.CDLL(str(library))
        self._library.duckdb_result_error.restype = ctypes.c_char_p
        self._database = ctypes.c_void_p()
        self._connection = ctypes.c_void_p()
        assert self._library.duckdb_open(None, ctypes.byref(self._database)) == 0
        assert self._library.duckdb_connect(self._database, ctypes.byref(self._connection)) == 0

    def run(self, statement):
        result = _Result()
        failed = self._library.duckdb_query(self._connection, statement.encode(), ctypes.byref(result))
        message = self._library.duckdb_result_error(ctypes.byref(result))
        self._library.duckdb_destroy_result(ctypes.byref(result))
        assert not failed, message
