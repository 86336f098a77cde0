# Read by ctest before it runs anything: builds are done by the processes that the tests start. Tests of the server ask for it.
set(ENV{TRIB_SERVER} off)
