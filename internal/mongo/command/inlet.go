package command

import (
	"net"

	"github.com/mayflydb/mayfly/internal/budget"
)

// An inlet is what a connection reads from. While a request runs, one byte may be read ahead: that is how the server
// notices that the client has left.
type inlet struct {
	net.Conn
	transfer
	share *budget.Share // of the connection
	ahead []byte        // of the next request
	one   [1]byte
}

func (in *inlet) Read(b []byte) (int, error) {
	if len(in.ahead) > 0 && len(b) > 0 {
		n := copy(b, in.ahead)
		in.ahead = in.ahead[n:]
		return n, nil
	}
	if in.share.Counted() {
		in.holds.Store(true)
		defer in.holds.Store(false)
	}
	n, err := in.Conn.Read(b)
	in.pieces.Add(1)
	return n, err
}
