// Package mongo runs the official MongoDB driver for Go against the binary, as
// applications do: stand-alone and as a replica set, over TLS, with passwords and
// with compression. Its stories of lifetime run on a virtual clock, and one with
// 32 clients on the real one.
//
// It holds tests only, and knows mayfly by its protocol alone.
package mongo
