#include "reading.hpp"

#include <mutex>

namespace recalltree::bindings {

namespace nb = nanobind;

void bind_moment(nb::module_& m) {
  nb::class_<Moment>(m, "Moment")
      .def("__enter__",
           [](const Moment& moment) {
             if (moment.alone) {
               std::unique_lock lock(*moment.lock, std::defer_lock);
               take(lock);
               lock.release();
             } else {
               std::shared_lock lock(*moment.lock, std::defer_lock);
               take(lock);
               lock.release();
             }
           })
      .def("__exit__", [](const Moment& moment, nb::args) {
        if (moment.alone)
          moment.lock->unlock();
        else
          moment.lock->unlock_shared();
      });
}

}  // namespace recalltree::bindings
