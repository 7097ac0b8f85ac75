package mayfly

import (
	"log/slog"
	"time"

	"github.com/mayflydb/mayfly/internal/embedded"
	"github.com/mayflydb/mayfly/internal/node"
)

// An Option changes how Open starts a database. Later ones win.
// Package disk has more of them.
type Option func(*embedded.Settings)

// Address is where to listen, host:port, instead of a free port of 127.0.0.1.
// The port on 127.0.0.1 or localhost is taken on ::1 too when the machine has that.
// On an address that other machines reach, Open wants a Key of your own, or makes
// one and keeps it in the folder of disk.Dir.
func Address(hostPort string) Option {
	return func(s *embedded.Settings) { s.Node.NoSQL = hostPort }
}

// Mongo opens a MongoDB door too, at host:port; "127.0.0.1:0" takes a free port. See DB.MongoURI.
func Mongo(hostPort string) Option {
	return func(s *embedded.Settings) { s.Node.Mongo.Address = hostPort }
}

// MongoReplSet is the name of the replica set of one that the MongoDB door is, globaldb by default. With ""
// the door is a stand-alone server, which has no transactions, retryable writes and change streams.
func MongoReplSet(name string) Option {
	return func(s *embedded.Settings) { s.Node.Mongo.ReplSet = name }
}

// Key is the account key, base64 of at least 32 bytes, instead of the
// well-known key of every Cosmos DB emulator.
func Key(base64 string) Option {
	return func(s *embedded.Settings) { s.Node.Key = base64 }
}

// TLS answers https, with a certificate from an authority of the database's
// own (see DB.CA), and plain http on the same port.
func TLS() Option {
	return func(s *embedded.Settings) { s.Node.TLS = node.TLS{} }
}

// VirtualClock makes time stand at start until Clock.Advance or Clock.Set
// moves it. Data that has seen a later instant goes on there. The zero Time is where the
// data stopped, or the present when there is none. Open fails for a start before 1970 or after the
// beginning of 2190.
func VirtualClock(start time.Time) Option {
	return func(s *embedded.Settings) { s.Node.Virtual, s.Node.VirtualStart = true, start }
}

// ReclaimRate frees the space of at most so many expired documents per
// second; 0, the default, adapts to the load.
func ReclaimRate(perSecond int) Option {
	return func(s *embedded.Settings) { s.Node.ReclaimRate = perSecond }
}

// MemoryLimit is how many bytes requests may take together, what the garbage collector has not seen yet included; 2 GiB
// by default, 0 for no limit. Requests that find no memory wait and are then refused in a way that makes clients
// try again. Documents of a database in memory are not counted.
func MemoryLimit(bytes int64) Option {
	return func(s *embedded.Settings) { s.Node.Memory = bytes }
}

// Logger receives what an operator should know; the default is silence. It
// never gets a key or the content of a document.
func Logger(log *slog.Logger) Option {
	return func(s *embedded.Settings) { s.Node.Logger = log }
}
