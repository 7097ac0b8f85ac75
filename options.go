package mayfly

import (
	"log/slog"
	"time"

	"github.com/mayflydb/mayfly/internal/embedded"
	"github.com/mayflydb/mayfly/internal/node"
)

// An Option changes how Open starts a database. If options contradict each other, the last one wins.
// Package disk has more of them.
type Option func(*embedded.Settings)

// Address is the address to listen on, host:port, instead of a free port of 127.0.0.1. For 127.0.0.1 and localhost,
// the same port of ::1 is used too if the machine has IPv6. On an address that other machines reach, Open needs a Key
// of your own, or makes one and keeps it in the folder of disk.Dir.
func Address(hostPort string) Option {
	return func(s *embedded.Settings) { s.Node.NoSQL = hostPort }
}

// Mongo adds the API for MongoDB, at host:port; "127.0.0.1:0" means a free port. See DB.MongoURI.
func Mongo(hostPort string) Option {
	return func(s *embedded.Settings) { s.Node.Mongo.Address = hostPort }
}

// MongoReplSet is the name of the replica set that MongoDB clients see, globaldb by default. It has one member. With
// "", they see a stand-alone server, without transactions, retryable writes and change streams.
func MongoReplSet(name string) Option {
	return func(s *embedded.Settings) { s.Node.Mongo.ReplSet = name }
}

// Key is the account key: base64 of at least 32 bytes. The default is the well-known key of all Cosmos DB emulators.
func Key(base64 string) Option {
	return func(s *embedded.Settings) { s.Node.Key = base64 }
}

// TLS answers https, with a certificate of the database's own authority (see DB.CA), and plain http on the same port.
func TLS() Option {
	return func(s *embedded.Settings) { s.Node.TLS = node.TLS{} }
}

// VirtualClock makes the clock stand still until Clock.Advance or Clock.Set moves it. It starts at start, or at the
// last instant that the data has seen if that is later. For the zero Time it starts at that instant, or at the
// present if there is no data. Open fails for a start before 1970 or after the beginning of 2190.
func VirtualClock(start time.Time) Option {
	return func(s *embedded.Settings) { s.Node.Virtual, s.Node.VirtualStart = true, start }
}

// ReclaimRate limits how many expired documents per second are freed; 0, the default, adapts to the load.
func ReclaimRate(perSecond int) Option {
	return func(s *embedded.Settings) { s.Node.ReclaimRate = perSecond }
}

// Partitions is how many ranges of partition keys a new container has, from 1 to 256, unless the request that creates
// it says so in the header x-mayfly-partitions. The default is 1. Clients see the ranges as physical partitions.
func Partitions(n int) Option {
	return func(s *embedded.Settings) { s.Node.Partitions = n }
}

// MemoryLimit is how many bytes all requests together may use, including garbage that is not collected yet; the
// default is 2 GiB, and 0 means no limit. A request that gets no memory waits, and then fails in a way that makes
// clients try again. The documents of a database in memory do not count.
func MemoryLimit(bytes int64) Option {
	return func(s *embedded.Settings) { s.Node.Memory = bytes }
}

// Seed makes and fills the containers of a folder that do not exist yet: dir/DATABASE/CONTAINER.json is the definition
// of a container, and dir/DATABASE/CONTAINER.jsonl has its documents, one in each line. A member "_age" such as "3d"
// says how long ago a document was written. Open fails if a document cannot be stored.
func Seed(dir string) Option {
	return func(s *embedded.Settings) { s.Node.Seed = dir }
}

// Logger receives messages for operators; by default there are none. They never contain a key or the content of a
// document.
func Logger(log *slog.Logger) Option {
	return func(s *embedded.Settings) { s.Node.Logger = log }
}
