package command

import (
	"context"
	"encoding/binary"
	"io"
	"net"

	"github.com/mayflydb/mayfly/internal/audit"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/account"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/wire"
	"github.com/mayflydb/mayfly/internal/mongo/write"
)

// localUser is who the commands of Local come from, as the account key opens every name.
var localUser = account.Identity{Database: account.AdminDatabase, Name: "mayfly-admin"}

// A Guard is a condition on the document that a command of Local writes.
type Guard = write.Guard

// WithGuard returns a context for a Local that writes one document.
func WithGuard(ctx context.Context, g *Guard) context.Context { return write.WithGuard(ctx, g) }

// Local runs one command, $db included, as the account, and returns the answer as a client gets it, errors included. It
// goes over a connection of its own without a network, so that it obeys the limits of every client; when ctx ends, the
// server sees that the client has left. The caller has checked that the sender has the account key.
func (s *Server) Local(ctx context.Context, command doc.Doc) (doc.Doc, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	conn, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(clock.Wall()) })()
	if _, err := conn.Write(wire.AppendMsg(nil, 1, 0, 0, command)); err != nil {
		return nil, localError(ctx, err)
	}
	answer, err := readLocal(conn)
	if err != nil {
		return nil, localError(ctx, err)
	}
	return answer, nil
}

// localError is the error of ctx if that has cut the connection off.
func localError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return code.New(code.InternalError, "the connection inside mayfly failed: %v", err)
}

// dial opens a connection without a network whose client is localUser. In the audit trail it is whom ctx is from.
func (s *Server) dial(ctx context.Context) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Running.Err() != nil {
		return nil, code.New(code.InterruptedAtShutdown, "interrupted at shutdown")
	}
	if len(s.connections) >= maxConnections {
		return nil, code.New(code.ExceededMemoryLimit, "too many connections")
	}
	client, server := net.Pipe()
	c := newConnection(s, server)
	if source, ok := audit.From(ctx); ok {
		c.base = audit.With(s.Running, source)
	}
	if s.o.Auth {
		// Each command finds the rights within the gate: the accounts are not to be read here, while Reload may replace
		// them.
		c.setUser(&localUser)
		c.reader.MaxMessage = wire.MaxMessage
	}
	c.base = write.SameGuard(c.base, ctx)
	s.connections[c] = struct{}{}
	s.serving.Go(func() {
		c.serve()
		s.mu.Lock()
		delete(s.connections, c)
		s.mu.Unlock()
	})
	return client, nil
}

// Sizes of an OP_MSG whose only section is its body: the header, the flags and the section's kind.
const (
	localHeader = 16
	localStart  = localHeader + 4 + 1
)

// readLocal reads an answer. The writer is this process, so it is trusted.
func readLocal(conn net.Conn) (doc.Doc, error) {
	var header [localHeader]byte
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		return nil, err
	}
	rest := make([]byte, int(binary.LittleEndian.Uint32(header[:]))-localHeader)
	if _, err := io.ReadFull(conn, rest); err != nil {
		return nil, err
	}
	return doc.Doc(rest[localStart-localHeader:]), nil
}
