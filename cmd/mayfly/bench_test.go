package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/kv/pebble"
	"github.com/mayflydb/mayfly/internal/store"
)

var benchItems = flag.Int("items", 100_000, "documents in the folder of BenchmarkStart/full")

// BenchmarkStart measures the program from its start to its first answer, and
// the memory it holds then: with an empty folder, and with one that holds -items documents of 1 KiB.
func BenchmarkStart(b *testing.B) {
	b.Run("empty", func(b *testing.B) {
		for b.Loop() {
			benchStart(b, b.TempDir())
		}
	})
	b.Run(fmt.Sprint("documents=", *benchItems), func(b *testing.B) {
		dir := b.TempDir()
		fill(b, dir, *benchItems, 0)
		for b.Loop() {
			benchStart(b, dir)
		}
	})
}

// benchStart starts the program, waits for the first answer of the admin API, and stops it.
func benchStart(b *testing.B, dir string) {
	b.StopTimer()
	cmd := exec.Command(binary, "--data", dir, "--nosql", "127.0.0.1:0", "--mongo", "", "--admin", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
	began := clock.Start()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var block []byte
	for chunk := make([]byte, 4096); !bytes.Contains(block, []byte("Ctrl-C")); {
		n, err := out.Read(chunk)
		if err != nil {
			b.Fatal(err)
		}
		block = append(block, chunk[:n]...)
	}
	admin := regexp.MustCompile(`Admin +(http\S+)`).FindSubmatch(block)
	answer, err := http.Get(string(admin[1]) + "readyz")
	if err != nil {
		b.Fatal(err)
	}
	answer.Body.Close()
	took := began.Elapsed()
	b.StopTimer()
	b.ReportMetric(float64(took.Milliseconds()), "ms-to-answer")
	b.ReportMetric(resident(b, cmd.Process.Pid), "MiB-resident")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	b.StartTimer()
}

// resident is the memory that a process holds, where the system tells.
func resident(b testing.TB, pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	return 0
}

// fill makes a data folder with a database d and a container c of count documents of
// 1 KiB, written at second 1. Documents i with i%10 == 0 have a ttl of -1.
func fill(t testing.TB, dir string, count int, ttl expiry.TTL) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := context.Background()
	engine, err := pebble.Open(pebble.Options{Dir: filepath.Join(dir, "db"), NoSync: true})
	check(err)
	cat, err := catalog.Open(ctx, engine, nil)
	check(err)
	st, err := store.Open(ctx, engine, cat)
	check(err)
	db, err := cat.CreateDatabase(ctx, 1, "d", nil)
	check(err)
	c, err := cat.CreateContainer(ctx, 1, db, catalog.Definition{
		Name:      "c",
		Partition: catalog.PartitionKey{Paths: []string{"/pk"}, Version: 2},
		TTL:       ttl,
		Indexing:  catalog.Indexing{Included: []string{"/*"}, Excluded: []string{"/text/?"}},
	}, nil)
	check(err)
	text := strings.Repeat("abcdefgh", 112)
	for i := 0; i < count; {
		var ops []store.Op
		for range min(100, count-i) {
			pk, id := fmt.Sprint("p", i%1000), fmt.Sprint("item", i)
			own := ""
			if i%10 == 0 {
				own = `,"ttl":-1`
			}
			body, err := doc.FromJSON(nil,
				fmt.Appendf(nil, `{"id":%q,"pk":%q,"n":%d,"group":%d,"text":%q%s}`, id, pk, i, i%100, text, own),
				doc.ParseOptions{})
			check(err)
			ops = append(ops,
				store.Op{Verb: store.Create, Key: store.Key{Partition: []doc.Value{doc.String(pk)}, ID: id},
					Body: body})
			i++
		}
		_, err := st.WriteAll(ctx, c, 1, ops)
		check(err)
	}
	check(st.Close())
	check(engine.Close())
}
