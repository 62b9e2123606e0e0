#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kqd::duck {

// The few functions of DuckDB's C interface that we call, declared here so that kqd builds without DuckDB; names and
// layouts are those of duckdb.h, whose stable part only grows. Handles are opaque.

using Handle = void*;
using Index = std::uint64_t;
enum State : int { kSuccess = 0, kError = 1 };
enum PendingState : int { kReady = 0, kNotReady = 1, kPendingError = 2, kNoTasks = 3 };

enum Type : int {
  kBoolean = 1,
  kTinyInt = 2,
  kSmallInt = 3,
  kInteger = 4,
  kBigInt = 5,
  kUTinyInt = 6,
  kUSmallInt = 7,
  kUInteger = 8,
  kUBigInt = 9,
  kFloat = 10,
  kDouble = 11,
  kInterval = 15,
  kVarchar = 17,
  kBlob = 18,
  kDecimal = 19,
  kList = 24,
  kStruct = 25,
  kMap = 26,
  kUnion = 28,
  kBit = 29,
  kArray = 33,
};

struct Result {
  Index unused_counts[3];
  void* unused_columns;
  char* unused_error;
  void* data;
};

/// A text in a column: up to 12 bytes in place, longer ones behind a pointer.
struct Text {
  std::uint32_t length;
  char beginning[4];
  union {
    char rest[8];
    const char* all;
  };

  [[nodiscard]] std::string_view view() const { return {length <= 12 ? beginning : all, length}; }
};
static_assert(sizeof(Text) == 16);

/// The functions, as they were found in the library.
struct Library {
  const char* (*library_version)() = nullptr;
  State (*create_config)(Handle* config) = nullptr;
  State (*set_config)(Handle config, const char* name, const char* value) = nullptr;
  void (*destroy_config)(Handle* config) = nullptr;
  State (*open_ext)(const char* path, Handle* database, Handle config, char** error) = nullptr;
  void (*close)(Handle* database) = nullptr;
  State (*connect)(Handle database, Handle* connection) = nullptr;
  void (*disconnect)(Handle* connection) = nullptr;
  State (*query)(Handle connection, const char* text, Result* result) = nullptr;
  const char* (*result_error)(Result* result) = nullptr;
  void (*destroy_result)(Result* result) = nullptr;
  Index (*extract_statements)(Handle connection, const char* text, Handle* statements) = nullptr;
  const char* (*extract_statements_error)(Handle statements) = nullptr;
  void (*destroy_extracted)(Handle* statements) = nullptr;
  State (*prepare)(Handle connection, const char* text, Handle* statement) = nullptr;
  const char* (*prepare_error)(Handle statement) = nullptr;
  State (*bind_varchar_length)(Handle statement, Index parameter, const char* value, Index length) = nullptr;
  Index (*column_count)(Result* result) = nullptr;
  const char* (*column_name)(Result* result, Index column) = nullptr;
  Type (*column_type)(Result* result, Index column) = nullptr;
  Handle (*column_logical_type)(Result* result, Index column) = nullptr;
  void (*destroy_logical_type)(Handle* type) = nullptr;
  std::uint8_t (*decimal_width)(Handle type) = nullptr;
  void (*destroy_prepare)(Handle* statement) = nullptr;
  State (*pending_prepared_streaming)(Handle statement, Handle* pending) = nullptr;
  PendingState (*pending_execute_task)(Handle pending) = nullptr;
  const char* (*pending_error)(Handle pending) = nullptr;
  State (*execute_pending)(Handle pending, Result* result) = nullptr;
  void (*destroy_pending)(Handle* pending) = nullptr;
  Handle (*fetch_chunk)(Result result) = nullptr;
  Index (*data_chunk_get_size)(Handle chunk) = nullptr;
  Handle (*data_chunk_get_vector)(Handle chunk, Index column) = nullptr;
  void* (*vector_get_data)(Handle vector) = nullptr;
  std::uint64_t* (*vector_get_validity)(Handle vector) = nullptr;
  void (*destroy_data_chunk)(Handle* chunk) = nullptr;
  void (*free)(void* memory) = nullptr;
};

/// The library, or nothing and the reason why in one sentence.
struct Found {
  const Library* library = nullptr;
  std::string reason;
};
[[nodiscard]] Found find_library();

}  // namespace kqd::duck
