package command_test

import (
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// numberOf is the code of an error, 0 if it has none.
func numberOf(err error) int32 {
	var e mongo.CommandError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// frame gives the next answer with its flags, and checks what it is an answer to.
func (p *peer) frame(to uint32) (id uint32, flags wire.Flags, body bson.Raw) {
	p.t.Helper()
	header := make([]byte, 16)
	_, err := io.ReadFull(p.conn, header)
	must(p.t, err)
	rest := make([]byte, binary.LittleEndian.Uint32(header)-16)
	_, err = io.ReadFull(p.conn, rest)
	must(p.t, err)
	if got := binary.LittleEndian.Uint32(header[8:]); got != to {
		p.t.Fatalf("an answer to %d, want %d", got, to)
	}
	return binary.LittleEndian.Uint32(header[4:]), wire.Flags(binary.LittleEndian.Uint32(rest)), bson.Raw(rest[5:])
}

func TestExhaust(t *testing.T) {
	t.Parallel()
	for _, checked := range []wire.Flags{0, wire.ChecksumPresent} {
		d := newSuite(t)
		p := d.peer()
		var documents []any
		for i := range 10 {
			documents = append(documents, eq("_id", i))
		}
		p.ask(append(insertOf("c", documents...), bson.E{Key: "$db", Value: "test"}))
		first := p.ask(with(findOf("c", bson.D{}), pairs("batchSize", 2, "$db", "test")))
		id := first.Lookup("cursor", "id").Int64()
		p.sent++
		p.send(wire.AppendMsg(nil, p.sent, 0, wire.ExhaustAllowed|checked,
			encoded(t, pairs("getMore", id, "collection", "c", "batchSize", 3, "$db", "test"))))
		to, n := uint32(p.sent), 2
		for {
			next, flags, body := p.frame(to)
			batch := body.Lookup("cursor", "nextBatch").Array()
			values, err := batch.Values()
			must(t, err)
			n += len(values)
			to = next
			if flags&wire.MoreToCome == 0 {
				if left := body.Lookup("cursor", "id").Int64(); left != 0 {
					t.Errorf("the stream ends with cursor %d", left)
				}
				break
			}
		}
		if n != 10 {
			t.Errorf("%d documents", n)
		}
		wantsOK := p.ask(bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "test"}})
		wants(t, "the connection goes on", wantsOK, "ok")
	}
}

// TestExhaustStream reads a change stream that has nothing to tell.
func TestExhaustStream(t *testing.T) {
	t.Parallel()
	d := newSuite(t)
	p := d.peer()
	open := p.ask(append(eqAggregate("c", eq("$changeStream", bson.D{})), bson.E{Key: "$db", Value: "test"}))
	id := open.Lookup("cursor", "id").Int64()
	wants(t, "insert", d.member(1).with(insertOf("c", eq("_id", 1))), "n 1")
	p.sent++
	p.send(wire.AppendMsg(nil, p.sent, 0, wire.ExhaustAllowed,
		encoded(t, pairs("getMore", id, "collection", "c", "maxTimeMS", 5, "$db", "test"))))
	to, n := uint32(p.sent), 0
	for {
		next, flags, body := p.frame(to)
		values, err := body.Lookup("cursor", "nextBatch").Array().Values()
		must(t, err)
		n += len(values)
		to = next
		if flags&wire.MoreToCome == 0 {
			break
		}
	}
	if n != 1 {
		t.Errorf("%d events", n)
	}
}
