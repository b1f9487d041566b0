#include "tests/fuzz/stranger.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace graze::fuzz {
namespace {

constexpr std::size_t growth = 1024;  // bytes by which the file in memory grows
constexpr int most_changes = 40;
// Nothing in the file system: the library opens it for writing, and also looks for its last part here.
constexpr const char* elsewhere = "/nonexistent/graze_no_such_file";
// As graze's own files have it. Headers then carry checksums; in others the library (1.10.8) reads past their
// end where a byte of them is changed.
constexpr unsigned in_order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

/// An object of the library, closed at the end of its life.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

herr_t add_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

herr_t add_attribute(hid_t, const char* name, const H5A_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

/// What to do, byte by byte.
class Recipe {
 public:
  explicit Recipe(std::string_view bytes) : bytes_(bytes) {}
  bool at_end() const { return bytes_.empty(); }
  /// A choice among at most 256; 0 at the end.
  std::size_t below(std::size_t n) {
    if (at_end()) return 0;
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte % n;
  }

 private:
  std::string_view bytes_;
};

/// Changes an open file. Calls of the library that fail change nothing, and that is all right.
class Stranger {
 public:
  Stranger(hid_t file, Recipe& recipe) : file_(file), recipe_(recipe) {}

  /// The least that is a result.
  void begin() {
    set_text(file_, "filetype", "graze result");
    set_integer(file_, "format_version", 1);
    const Id delta(make_array(file_, "delta", H5T_IEEE_F64LE, {3}), H5Dclose);
    set_text(delta, "CLASS", "DIMENSION_SCALE");
    const Id outcome(make_array(file_, "outcome", H5T_STD_I8LE, {3}), H5Dclose);
    std::vector<hobj_ref_t> scales(1);
    H5Rcreate(scales.data(), file_, "delta", H5R_OBJECT, -1);
    attach_to(outcome, scales, 1);
    set_text(outcome, "flag_meanings", "ok event_limit");
  }

  void change() {
    switch (below(16)) {
      case 0:
      case 1:
        return change_attribute();
      case 2:
        return delete_attribute();
      case 3:
      case 4:
      case 5:
        return add_array();
      case 6:
        return add_group();
      case 7:
        return remove();
      case 8:
        return rename();
      case 9:
        return link();
      case 10:
      case 11:
        return attach();
      case 12:
        return make_scale();
      case 13:
        return write_values();
      case 14:
        return become_block();
      default:
        return set_root();
    }
  }

 private:
  std::size_t below(std::size_t n) { return recipe_.below(n); }
  template <class List>
  const auto& one_of(const List& list) {
    return list[below(std::size(list))];
  }

  const char* name() {
    static constexpr std::array names = {"delta",    "outcome", "int8", "state", "branch",   "bifurcation",
                                         "float64",  "0",       "1",    "kind",  "point",    "period",
                                         "lyapunov", "a name",  ".",    "",      "\xff\xfe", "a/b"};
    return one_of(names);
  }
  const char* attribute_name() {
    static constexpr std::array names = {"filetype",       "format_version", "blocks",        "identity",
                                         "units",          "long_name",      "flag_meanings", "flag_values",
                                         "DIMENSION_LIST", "REFERENCE_LIST", "CLASS",         "NAME",
                                         "_FillValue",     "box_offset",     "box_count",     "case_toml"};
    return one_of(names);
  }
  std::string text() {
    static const std::vector<std::string> texts = {
        "graze result",
        "graze block",
        "fuzz",
        "",
        "DIMENSION_SCALE",
        "ok event_limit",
        std::string(300, 'a'),
        "\xff",
        "This is a netCDF dimension but not a netCDF variable.         3",
        "1",
        "%s%n"};
    return one_of(texts);
  }
  std::int64_t integer() {
    static constexpr std::array<std::int64_t, 10> numbers = {0,
                                                             1,
                                                             2,
                                                             3,
                                                             -1,
                                                             127,
                                                             1000000,
                                                             std::int64_t{1} << 40,
                                                             std::numeric_limits<std::int64_t>::max(),
                                                             std::numeric_limits<std::int64_t>::min()};
    return one_of(numbers);
  }
  hid_t type() {
    const std::array types = {H5T_STD_I8LE,  H5T_STD_I32LE, H5T_STD_I64LE, H5T_IEEE_F64LE, H5T_IEEE_F64LE,
                              H5T_STD_I8LE,  H5T_STD_U8LE,  H5T_STD_I64BE, H5T_IEEE_F32LE, H5T_IEEE_F64BE,
                              H5T_STD_I16LE, H5T_C_S1,      H5T_STD_B64LE, H5T_UNIX_D32LE, H5T_STD_REF_OBJ};
    return one_of(types);
  }
  std::vector<hsize_t> sizes() {
    static constexpr std::array<hsize_t, 12> all = {0, 1, 2, 3,    3,         3,
                                                    3, 4, 5, 1000, 100000000, hsize_t{1} << 61};
    std::vector<hsize_t> result(below(4));
    for (hsize_t& size : result) size = one_of(all);
    return result;
  }

  /// The root or a group in it, open.
  hid_t group() {
    const std::vector<std::string> names = members(file_);
    if (names.empty() || below(3) > 0) return H5Gopen2(file_, "/", H5P_DEFAULT);
    const hid_t found = H5Gopen2(file_, one_of(names).c_str(), H5P_DEFAULT);
    return found >= 0 ? found : H5Gopen2(file_, "/", H5P_DEFAULT);
  }
  static std::vector<std::string> members(hid_t place) {
    std::vector<std::string> names;
    H5Literate(place, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names);
    return names;
  }
  /// Something in a group by name, "." when there is nothing.
  std::string member(hid_t place) {
    const std::vector<std::string> names = members(place);
    return names.empty() ? "." : one_of(names);
  }
  hid_t object(hid_t place) { return H5Oopen(place, member(place).c_str(), H5P_DEFAULT); }
  /// Removes a name; not a second one of a group: the library (1.10.8) then crashes where it is open still.
  static void unlink(hid_t place, const char* name) {
    if (has_one_name(place, name)) H5Ldelete(place, name, H5P_DEFAULT);
  }
  static bool has_one_name(hid_t place, const char* name) {
    H5O_info_t info{};
    return H5Oget_info_by_name2(place, name, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0 ||
           info.type != H5O_TYPE_GROUP || info.rc <= 1;
  }

  void set_text(hid_t at, const char* attribute, const std::string& value) {
    const Id kind(H5Tcopy(H5T_C_S1), H5Tclose);
    H5Tset_size(kind, value.empty() ? 1 : value.size());
    put_attribute(at, attribute, kind, H5S_SCALAR, value.c_str());
  }
  void set_integer(hid_t at, const char* attribute, std::int64_t value) {
    put_attribute(at, attribute, H5T_NATIVE_INT64, H5S_SCALAR, &value);
  }
  void put_attribute(hid_t at, const char* attribute, hid_t kind, H5S_class_t shape, const void* value) {
    H5Adelete(at, attribute);
    const Id space(H5Screate(shape), H5Sclose);
    const Id made(H5Acreate2(at, attribute, kind, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    if (shape == H5S_SCALAR) H5Awrite(made, kind, value);
  }
  hid_t make_array(hid_t place, const char* array, hid_t kind, const std::vector<hsize_t>& shape) {
    const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_attr_creation_order(properties, in_order);
    return make_array(place, array, kind, shape, properties);
  }
  hid_t make_array(hid_t place, const char* array, hid_t kind, const std::vector<hsize_t>& shape,
                   hid_t properties) {
    const Id space(shape.empty() ? H5Screate(below(2) == 0 ? H5S_SCALAR : H5S_NULL)
                                 : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                   H5Sclose);
    return H5Dcreate2(place, array, kind, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  }

  void change_attribute() {
    const Id place(group(), H5Gclose);
    const Id at(below(3) == 0 ? H5Gopen2(place, ".", H5P_DEFAULT) : object(place), H5Oclose);
    const char* attribute = attribute_name();
    const std::array<std::int64_t, 9> numbers = {integer(), integer(), integer(), integer()};
    switch (below(6)) {
      case 0:
      case 1:
        return set_text(at, attribute, text());
      case 2:
        return set_integer(at, attribute, integer());
      case 3:
        return put_attribute(at, attribute, type(), H5S_NULL, nullptr);
      case 4: {
        const Id kind(H5Tcopy(H5T_C_S1), H5Tclose);
        H5Tset_size(kind, H5T_VARIABLE);
        const std::string value = text();
        const char* pointer = value.c_str();
        return put_attribute(at, attribute, kind, H5S_SCALAR, static_cast<const void*>(&pointer));
      }
      default: {
        H5Adelete(at, attribute);
        const hsize_t count = one_of(std::array<hsize_t, 4>{0, 1, 2, 9});
        const Id space(H5Screate_simple(1, &count, nullptr), H5Sclose);
        const Id made(H5Acreate2(at, attribute, type(), space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        H5Awrite(made, H5T_NATIVE_INT64, numbers.data());
      }
    }
  }

  void delete_attribute() {
    const Id place(group(), H5Gclose);
    const Id at(below(3) == 0 ? H5Gopen2(place, ".", H5P_DEFAULT) : object(place), H5Oclose);
    std::vector<std::string> names;
    H5Aiterate2(at, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute, &names);
    if (!names.empty()) H5Adelete(at, one_of(names).c_str());
  }

  void add_array() {
    const Id place(group(), H5Gclose);
    const char* array = name();
    const std::vector<hsize_t> shape = sizes();
    const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_attr_creation_order(properties, in_order);
    set_storage(properties, array, shape);
    unlink(place, array);
    const Id made(make_array(place, array, type(), shape, properties), H5Dclose);
    if (!shape.empty() && below(8) > 0) attach_any(place, made, shape.size());
  }

  void set_storage(hid_t properties, const char* array, const std::vector<hsize_t>& shape) {
    const int rank = static_cast<int>(shape.size());
    std::vector<hsize_t> chunk = shape;
    for (hsize_t& size : chunk) size = 1 + below(std::min<hsize_t>(size + 1, 8));
    switch (below(8)) {
      case 0:
        H5Pset_layout(properties, H5D_COMPACT);
        break;
      case 1:
      case 2:
        H5Pset_chunk(properties, rank, chunk.data());
        if (below(2) == 0) H5Pset_shuffle(properties);
        if (below(2) == 0) H5Pset_deflate(properties, 1);
        if (below(2) == 0) H5Pset_fletcher32(properties);
        break;
      case 3:
        H5Pset_external(properties, elsewhere, 0, 8);
        break;
      case 4: {
        const Id space(H5Screate_simple(rank, shape.data(), nullptr), H5Sclose);
        H5Pset_virtual(
            properties, space,
            one_of(std::array{"fuzz.h5.blocks/000000.h5", "fuzz.h5.blocks/000001.h5", ".", elsewhere}),
            below(2) == 0 ? array : name(), space);
        break;
      }
      default:
        break;
    }
  }

  void add_group() {
    const Id place(group(), H5Gclose);
    const Id properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
    H5Pset_link_creation_order(properties, in_order);
    H5Pset_attr_creation_order(properties, in_order);
    const Id made(H5Gcreate2(place, name(), H5P_DEFAULT, properties, H5P_DEFAULT), H5Gclose);
  }

  void remove() {
    const Id place(group(), H5Gclose);
    unlink(place, member(place).c_str());
  }

  void rename() {
    const Id from(group(), H5Gclose);
    const Id to(group(), H5Gclose);
    H5Lmove(from, member(from).c_str(), to, name(), H5P_DEFAULT, H5P_DEFAULT);
  }

  void link() {
    const Id from(group(), H5Gclose);
    const Id to(group(), H5Gclose);
    switch (below(4)) {
      case 0:
        H5Lcreate_soft(name(), to, name(), H5P_DEFAULT, H5P_DEFAULT);
        break;
      case 1:
        H5Lcreate_external(elsewhere, "/", to, name(), H5P_DEFAULT, H5P_DEFAULT);
        break;
      case 2:
        H5Lcreate_hard(from, ".", to, name(), H5P_DEFAULT, H5P_DEFAULT);
        break;
      default:
        H5Lcreate_hard(from, member(from).c_str(), to, name(), H5P_DEFAULT, H5P_DEFAULT);
    }
  }

  void attach() {
    const Id place(group(), H5Gclose);
    const Id array(object(place), H5Oclose);
    if (H5Iget_type(array) != H5I_DATASET) return;
    const Id space(H5Dget_space(array), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank > 0) attach_any(place, array, static_cast<std::size_t>(rank));
  }
  /// Names dimensions of an array by what there is in a group.
  void attach_any(hid_t place, hid_t array, std::size_t rank) {
    const Id other(group(), H5Gclose);
    const hid_t from = below(8) == 0 ? static_cast<hid_t>(other) : place;
    std::vector<hobj_ref_t> scales(rank);
    for (hobj_ref_t& scale : scales) H5Rcreate(&scale, from, member(from).c_str(), H5R_OBJECT, -1);
    attach_to(array, scales, below(8) == 0 ? rank + 1 : rank);
  }
  /// The library's own functions for this crash where a stranger has been before.
  void attach_to(hid_t array, std::vector<hobj_ref_t>& scales, hsize_t rank) {
    std::vector<hvl_t> lists(rank, hvl_t{0, nullptr});
    for (std::size_t d = 0; d < scales.size(); ++d) lists[d] = {1, &scales[d]};
    H5Adelete(array, "DIMENSION_LIST");
    const Id type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
    const Id space(H5Screate_simple(1, &rank, nullptr), H5Sclose);
    const Id made(H5Acreate2(array, "DIMENSION_LIST", type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
    H5Awrite(made, type, lists.data());
  }

  void make_scale() {
    const Id place(group(), H5Gclose);
    const Id array(object(place), H5Oclose);
    set_text(array, "CLASS", "DIMENSION_SCALE");
    set_text(array, "NAME", text());
  }

  void write_values() {
    const Id place(group(), H5Gclose);
    const Id array(object(place), H5Oclose);
    if (H5Iget_type(array) != H5I_DATASET || !has_own_values(array)) return;
    const Id space(H5Dget_space(array), H5Sclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count <= 0 || count > 100) return;
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    for (std::int64_t& value : values) value = integer();
    H5Dwrite(array, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }

  static bool has_own_values(hid_t array) {
    const Id properties(H5Dget_create_plist(array), H5Pclose);
    return H5Pget_layout(properties) != H5D_VIRTUAL && H5Pget_external_count(properties) <= 0;
  }

  void become_block() {
    set_text(file_, "filetype", "graze block");
    set_text(file_, "identity", "fuzz");
    const hsize_t one = 1;
    const Id space(H5Screate_simple(1, &one, nullptr), H5Sclose);
    for (const auto& [attribute, value] : {std::pair{"box_offset", 0}, std::pair{"box_count", 3}}) {
      H5Adelete(file_, attribute);
      const Id made(H5Acreate2(file_, attribute, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
      H5Awrite(made, H5T_NATIVE_INT, &value);
    }
    for (const char* values : {"int8", "float64"}) {
      unlink(file_, values);
      const Id made(make_array(file_, values, type(), {3}), H5Dclose);
    }
  }

  void set_root() {
    switch (below(3)) {
      case 0:
        return set_text(file_, "filetype", "graze result");
      case 1:
        return set_integer(file_, "format_version", 1);
      default:
        return set_integer(file_, "blocks", integer());
    }
  }

  hid_t file_;
  Recipe& recipe_;
};

hid_t new_file_in_memory() {
  const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access, growth, false);
  const Id properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_link_creation_order(properties, in_order);
  H5Pset_attr_creation_order(properties, in_order);
  return H5Fcreate("stranger", H5F_ACC_TRUNC, properties, access);
}

}  // namespace

std::string made_by_stranger(std::string_view recipe) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  Recipe changes(recipe);
  const Id file(new_file_in_memory(), H5Fclose);
  Stranger stranger(file, changes);
  stranger.begin();
  for (int k = 0; k < most_changes && !changes.at_end(); ++k) stranger.change();
  H5Fflush(file, H5F_SCOPE_LOCAL);
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  std::string image(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  H5Fget_file_image(file, image.data(), image.size());
  return image;
}

}  // namespace graze::fuzz
