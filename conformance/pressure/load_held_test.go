package pressure

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"go.mongodb.org/mongo-driver/v2/bson"
)

// held has n connections that send something and then keep the server waiting
// until ctx ends. What answers says how the server took it, nil for nothing yet.
func held(name string, n int, prepare func(context.Context, *server) error, address func(*server) string,
	sent func(ctx context.Context, s *server) []byte, answer func(net.Conn) error) load {
	return load{name, prepare, func(ctx context.Context, s *server, n int, t *tally) {
		content := sent(ctx, s)
		_, host, _ := strings.Cut(address(s), "://")
		together(n, func(int) {
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.count(ctx, err)
				return
			}
			defer conn.Close()
			context.AfterFunc(ctx, func() { conn.Close() })
			conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			if _, err := conn.Write(content); err != nil {
				t.count(ctx, status{http.StatusTooManyRequests, "closed while it was sent to: " + err.Error()})
				return
			}
			if answer != nil {
				t.count(ctx, answer(conn))
			}
			<-ctx.Done()
		})
	}, n}
}

func nosqlAddress(s *server) string { return s.nosql }
func mongoAddress(s *server) string { return s.mongo }

// bytesOf is a request as it goes over the wire.
func bytesOf(r *http.Request) []byte {
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// unfinishedBodies send an item of 1.9 MB without its last byte.
func unfinishedBodies(n int) load {
	return held("bodies of 1.9 MB without their end", n, func(ctx context.Context, s *server) error {
		return s.container(ctx, "pages", 0)
	}, nosqlAddress, func(ctx context.Context, s *server) []byte {
		pk, text := keyed("p")
		b := bytesOf(s.request(ctx, "POST", "dbs/rest/colls/pages/docs",
			`{"id":"unfinished","pk":"p","text":"`+strings.Repeat("u", 1_900_000)+`"}`, pk, text))
		return b[:len(b)-1]
	}, nil)
}

// unreadPages ask for a page of 4 MiB and do not read it.
func unreadPages(n int) load {
	return held("pages of 4 MiB, unread", n, func(ctx context.Context, s *server) error {
		if err := s.container(ctx, "pages", 0); err != nil {
			return err
		}
		for i := range 100 {
			if err := s.put(ctx, "pages", "p",
				fmt.Sprintf(`{"id":"page%d","pk":"p","text":%q}`, i, strings.Repeat("p", 64<<10))); err != nil {
				return err
			}
		}
		return nil
	}, nosqlAddress, func(ctx context.Context, s *server) []byte {
		pk, text := keyed("p")
		return bytesOf(s.request(ctx, "GET", "dbs/rest/colls/pages/docs", "", pk, text, "x-ms-max-item-count", "1000"))
	}, nil)
}

const opMsg, opCompressed = 2013, 2012

// message is an OP_MSG with a body and, perhaps, a sequence of documents.
func message(body bson.D, sequence string, documents ...[]byte) []byte {
	text, err := bson.Marshal(body)
	if err != nil {
		panic(err)
	}
	b := make([]byte, 16, 16+5+len(text))
	b = append(append(b, 0, 0, 0, 0, 0), text...)
	if len(documents) > 0 {
		content := append([]byte(sequence), 0)
		for _, d := range documents {
			content = append(content, d...)
		}
		b = binary.LittleEndian.AppendUint32(append(b, 1), uint32(4+len(content)))
		b = append(b, content...)
	}
	return headed(b, opMsg)
}

func headed(b []byte, op uint32) []byte {
	binary.LittleEndian.PutUint32(b, uint32(len(b)))
	binary.LittleEndian.PutUint32(b[4:], 1)
	binary.LittleEndian.PutUint32(b[12:], op)
	return b
}

// compressed frames of five kilobytes hold 48 MB each.
func compressedFrames(n int) load {
	packed := sync.OnceValue(func() []byte {
		large, err := bson.Marshal(bson.D{{Key: "text", Value: strings.Repeat("z", 15_900_000)}})
		if err != nil {
			panic(err)
		}
		plain := message(bson.D{{Key: "ping", Value: 1}, {Key: "$db", Value: "admin"}}, "documents", large, large,
			large)
		w, err := zstd.NewWriter(nil)
		if err != nil {
			panic(err)
		}
		b := make([]byte, 16, 16<<10)
		b = binary.LittleEndian.AppendUint32(b, opMsg)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(plain)-16))
		return headed(w.EncodeAll(plain[16:], append(b, 3)), opCompressed)
	})
	return held("zstd frames that hold 48 MB", n, func(context.Context, *server) error { return nil }, mongoAddress,
		func(context.Context, *server) []byte { return packed() }, func(conn net.Conn) error {
			head := make([]byte, 4)
			r := bufio.NewReader(conn)
			if _, err := io.ReadFull(r, head); err != nil {
				return fmt.Errorf("a compressed frame: %w", err)
			}
			_, err := io.CopyN(io.Discard, r, int64(binary.LittleEndian.Uint32(head))-4)
			return err
		})
}

// unreadFinds ask for 16 MB of documents and do not read them.
func unreadFinds(n int) load {
	return held("finds of 16 MB, unread", n, func(ctx context.Context, s *server) error {
		c := s.collection("unread")
		if n, err := c.EstimatedDocumentCount(ctx); err != nil || n > 0 {
			return err
		}
		for i := range 18 {
			if _, err := c.InsertOne(ctx,
				bson.D{{Key: "_id", Value: i}, {Key: "text", Value: strings.Repeat("f", 1_000_000)}}); err != nil {
				return err
			}
		}
		return nil
	}, mongoAddress, func(context.Context, *server) []byte {
		return message(bson.D{{Key: "find", Value: "unread"}, {Key: "batchSize", Value: 1000},
			{Key: "$db", Value: "wire"}}, "")
	}, nil)
}
