package command_test

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/mongo/wire"
)

// A peer is a client that writes frames itself.
type peer struct {
	t    testing.TB
	conn net.Conn
	sent int32
}

func (d *testServer) peer() *peer {
	d.t.Helper()
	return dial(d.t, d.address)
}

func dial(t testing.TB, address string) *peer {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	return &peer{t: t, conn: conn}
}

// query sends an OP_QUERY, as clients do first of all, and gives the document of the OP_REPLY.
func (p *peer) query(ns string, cmd any) bson.Raw {
	p.t.Helper()
	p.sent++
	body := []byte{0, 0, 0, 0} // flags
	body = append(append(body, ns...), 0)
	body = append(body, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff) // numberToSkip, numberToReturn -1
	body = append(body, encoded(p.t, cmd)...)
	frame := binary.LittleEndian.AppendUint32(nil, uint32(16+len(body)))
	frame = binary.LittleEndian.AppendUint32(frame, uint32(p.sent))
	frame = binary.LittleEndian.AppendUint32(frame, 0)
	frame = binary.LittleEndian.AppendUint32(frame, uint32(wire.OpQuery))
	p.send(append(frame, body...))
	got := p.receive(wire.OpReply)
	if n := binary.LittleEndian.Uint32(got[16:]); n != 1 {
		p.t.Fatalf("an OP_REPLY of %d documents", n)
	}
	return bson.Raw(got[20:])
}

// ask sends an OP_MSG and gives the document of the answer.
func (p *peer) ask(cmd any) bson.Raw {
	p.t.Helper()
	p.sent++
	p.send(wire.AppendMsg(nil, p.sent, 0, 0, encoded(p.t, cmd)))
	return bson.Raw(p.receive(wire.OpMsg)[5:])
}

// askPacked does so in an OP_COMPRESSED.
func (p *peer) askPacked(cmd any, c wire.Compressor) bson.Raw {
	p.t.Helper()
	p.sent++
	p.send(wire.AppendCompressed(nil, wire.AppendMsg(nil, p.sent, 0, 0, encoded(p.t, cmd)), c))
	var m wire.Message
	must(p.t, wire.NewReader(p.conn).Read(&m))
	return append(bson.Raw(nil), m.Body...)
}

func (p *peer) send(frame []byte) {
	p.t.Helper()
	_, err := p.conn.Write(frame)
	must(p.t, err)
}

// receive gives a frame without its header.
func (p *peer) receive(want wire.Op) []byte {
	p.t.Helper()
	header := make([]byte, 16)
	_, err := io.ReadFull(p.conn, header)
	must(p.t, err)
	if id := binary.LittleEndian.Uint32(header[8:]); id != uint32(p.sent) {
		p.t.Fatalf("an answer to %d, want %d", id, p.sent)
	}
	if op := wire.Op(binary.LittleEndian.Uint32(header[12:])); op != want {
		p.t.Fatalf("an answer with opcode %d, want %d", op, want)
	}
	rest := make([]byte, binary.LittleEndian.Uint32(header)-16)
	_, err = io.ReadFull(p.conn, rest)
	must(p.t, err)
	return rest
}

// closed reports whether the other side has hung up.
func (p *peer) closed() bool {
	_, err := p.conn.Read(make([]byte, 1))
	return err != nil
}

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	b, err := bson.Marshal(v)
	must(t, err)
	return b
}

// codeIn is the code of an answer, 0 when it is one that succeeded.
func codeIn(answer bson.Raw) int32 {
	c, _ := answer.Lookup("code").Int32OK()
	return c
}

func appendMsg(p *peer, cmd any) []byte { return wire.AppendMsg(nil, p.sent, 0, 0, encoded(p.t, cmd)) }

// securePeer calls the server by a name, over TLS.
func (d *testServer) securePeer(name string) *peer {
	d.t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	must(d.t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}}
	certificate, err := x509.CreateCertificate(nil, template, template, public, private)
	must(d.t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(d.t, err)
	pair := tls.Certificate{Certificate: [][]byte{certificate}, PrivateKey: private}
	secure := tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}})
	var serving sync.WaitGroup
	serving.Go(func() { _ = d.server.Serve(secure) })
	p := dial(d.t, l.Addr().String())
	d.t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	p.conn = tls.Client(p.conn, &tls.Config{ServerName: name, InsecureSkipVerify: true})
	return p
}

// reached is the address of the server that the peer has called.
func (p *peer) reached() string { return p.conn.RemoteAddr().String() }
