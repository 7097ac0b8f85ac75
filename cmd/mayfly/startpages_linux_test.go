package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestUnchangedMappings(t *testing.T) {
	const maps = `00400000-00402000 r--p 00000000 fe:00 77                   /usr/bin/may fly
Rss:                   8 kB
Anonymous:             0 kB
VmFlags: rd mr mw me
00402000-01f4e000 r-xp 00002000 fe:00 77                   /usr/bin/may fly
Rss:               19832 kB
Anonymous:             0 kB
03d7c000-03d7d000 r--p 0397c000 fe:00 77                   /usr/bin/may fly
Anonymous:             4 kB
03d7d000-03fed000 rw-p 0397d000 fe:00 77                   /usr/bin/may fly
Anonymous:             0 kB
03fed000-04100000 rw-p 00000000 00:00 0
Anonymous:             0 kB
04100000-04200000 r--p 00000000 fe:00 77                   /usr/bin/may fly
Anonymous:             0 kB
`
	for _, c := range []struct {
		name string
		want []mapping
	}{
		{"/usr/bin/may fly", []mapping{{0x400000, 0x402000}, {0x402000, 0x1f4e000}}},
		{"/usr/bin/other", nil},
	} {
		got, err := unchangedMappings(strings.NewReader(maps), c.name)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}

func TestReleaseProgram(t *testing.T) {
	name, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	mappings, err := unchangedMappings(maps, name)
	if err != nil || len(mappings) == 0 {
		t.Fatalf("mappings of the test: %v, %v", mappings, err)
	}
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	for _, m := range mappings { // what is read is in memory then
		all := io.NewSectionReader(memory, int64(m.from), int64(m.to-m.from))
		if n, err := io.Copy(io.Discard, all); err != nil || n != int64(m.to-m.from) {
			t.Fatalf("%d bytes of the program at %x: %v", n, m.from, err)
		}
	}
	before := residentFile(t)
	if err := releaseProgram(); err != nil {
		t.Fatal(err)
	}
	after := residentFile(t)
	t.Logf("%d KiB of files in memory, %d before", after, before)
	if after > before/2 {
		t.Errorf("%d KiB of files in memory, %d before", after, before)
	}
}

// residentFile is how many KiB of files are in the memory of the process.
func residentFile(t *testing.T) (kib int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(status), "RssFile:")
	if !found {
		t.Fatalf("no RssFile in %s", status)
	}
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}
