// A view of global memory.
#pragma once
#include "shapes.hpp"

namespace ptokit {
struct GlobalBase {};
}  // namespace ptokit

namespace pto {
template <class Element, class Shape_, class Stride_, Layout L_ = Layout::ND>
struct GlobalTensor : ptokit::GlobalBase {
  using Shape = Shape_;
  using Stride = Stride_;
  using DType = std::remove_cv_t<Element>;
  using RawDType = DType;
  static constexpr Layout layout = L_;
  static constexpr const int64_t (&staticShape)[5] = Shape_::staticShape;
  static constexpr const int64_t (&staticStride)[5] = Stride_::staticStride;
  DType *pointer = nullptr;  // the host may write it
  Shape_ extents;
  Stride_ steps;

  GlobalTensor() = default;
  GlobalTensor(const DType *start, const Shape_ &shape = {}, const Stride_ &stride = {})
      : pointer(const_cast<DType *>(start)), extents(shape), steps(stride) {}
  DType *data() const { return pointer; }
  void SetAddr(DType *start) { pointer = start; }
  // By plain pointers, as simulators have it; of types with arithmetic.
  DType GetElement(size_t i) const { return pointer[i]; }
  void SetElement(size_t i, DType value) { pointer[i] = value; }
  void AddToElement(size_t i, DType value) { pointer[i] = static_cast<DType>(pointer[i] + value); }
  int64_t GetShape(int i) const { return extents.shape[i]; }
  int64_t GetStride(int i) const { return steps.stride[i]; }
  template <int I_> static constexpr int64_t GetShape() { return Shape_::staticShape[I_]; }
  template <int I_> static constexpr int64_t GetStride() { return Stride_::staticStride[I_]; }
  template <int... I_, class... A_> void SetShape(A_... given) { ((extents.shape[I_] = given), ...); }
  template <int... I_, class... A_> void SetStride(A_... given) { ((steps.stride[I_] = given), ...); }
};
template <class T_> struct is_global : std::is_base_of<ptokit::GlobalBase, T_> {};
template <class T_> inline constexpr bool is_global_data_v = is_global<T_>::value;
}  // namespace pto
