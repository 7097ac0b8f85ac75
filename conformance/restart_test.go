package conformance

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/conformance/several"
)

// someday is later than any run of these tests.
const someday = "2099-12-31T00:00:00Z"

// A virtual clock moves only when told: not by being killed, nor while it is down.
func TestVirtualClockResumesAtItsMark(t *testing.T) {
	s := start(t, "--data", t.TempDir(), "--clock=virtual")
	before := s.now(t)
	time.Sleep(100 * time.Millisecond)
	s.crash(t)
	if got := s.now(t); !got.Equal(before) {
		t.Errorf("the clock went from %v to %v over a restart", before, got)
	}
	s.advance(t, 48*time.Hour)
	s.crash(t)
	if got, want := s.now(t), before.Add(48*time.Hour); !got.Equal(want) {
		t.Errorf("the clock is at %v after an advance and a restart, want %v", got, want)
	}
}

// Every second of life is the same when the process is killed in between: the
// clock resumes at its mark, the living are there, the dead stay dead.
func TestLifetimeAcrossKills(t *testing.T) {
	s := start(t, "--data", t.TempDir(), "--clock=virtual="+someday)
	b := lives(t, s, ptr(int32(10)))
	never, off := lives(t, s, ptr(int32(-1))), lives(t, s, nil)
	all := []string{"none", "twenty", "never"}
	for _, x := range []*box{b, never, off} {
		x.create(t, item{"id": "none"})
		x.create(t, item{"id": "twenty", "ttl": 20})
		x.create(t, item{"id": "never", "ttl": -1})
	}
	elapsed := 0
	for _, step := range []struct {
		at            int
		b, never, off string
	}{
		{0, "none twenty never", "none twenty never", "none twenty never"},
		{9, "none twenty never", "none twenty never", "none twenty never"},
		{10, "twenty never", "none twenty never", "none twenty never"},
		{19, "twenty never", "none twenty never", "none twenty never"},
		{20, "never", "none never", "none twenty never"},
		{21, "never", "none never", "none twenty never"},
	} {
		if step.at > elapsed {
			s.advance(t, time.Duration(step.at-elapsed)*time.Second)
			elapsed = step.at
		}
		for _, when := range []string{"before", "after"} {
			what := fmt.Sprintf("second %d, %s a kill", step.at, when)
			if when == "after" {
				s.crash(t)
				b, never, off = b.again(t), never.again(t), off.again(t)
			}
			b.wantLiving(t, "default 10, "+what, all, words(step.b))
			never.wantLiving(t, "no default, "+what, all, words(step.never))
			off.wantLiving(t, "off, "+what, all, words(step.off))
		}
	}
}

// A policy change is final across a kill: nobody comes back, bad values stay
// refused, and writes go on.
func TestPolicyAcrossKills(t *testing.T) {
	s := start(t, "--data", t.TempDir(), "--clock=virtual="+someday)
	b := lives(t, s, ptr(int32(10)))
	all := []string{"dead", "alive", "late"}
	b.create(t, item{"id": "dead"})
	b.create(t, item{"id": "alive", "ttl": 1000})
	s.advance(t, 10*time.Second)
	b.create(t, item{"id": "late"})
	again := func() { s.crash(t); b = b.again(t) }

	for _, policy := range []*int32{nil, ptr(int32(-1)), ptr(int32(5000))} {
		b.setPolicy(t, policy)
		b.wantLiving(t, "policy changed", all, words("alive late"))
		again()
		b.wantLiving(t, "and the process killed", all, words("alive late"))
		read, err := b.Read(within(t, patience), nil)
		ok(t, "read the container", err)
		if got := read.ContainerProperties.DefaultTimeToLive; (got == nil) != (policy == nil) ||
			got != nil && *got != *policy {
			t.Errorf("default ttl after a kill: %v, want %v", got, policy)
		}
	}
	for _, bad := range badTTLs {
		wantRefusal(t, "after a kill, ttl "+bad, "ttl", bad,
			s.do(t, "POST", b.path+"/docs", `{"id":"bad","pk":"p","ttl":`+bad+`}`, keyed("p")))
	}
	b.create(t, item{"id": "dead"})
	b.wantLiving(t, "written anew", all, all)
	s.advance(t, 1000*time.Second)
	again()
	b.wantLiving(t, "second 1010", all, words("dead late"))
}

// What was acknowledged is there after a kill in the middle of the writing.
func TestAcknowledgedWritesSurviveAKill(t *testing.T) {
	s := start(t, "--data", t.TempDir())
	b := lives(t, s, nil)
	const writers = 8
	acknowledged := make(chan string, 100_000)
	done := make(chan struct{}, writers)
	for w := range writers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d", w, i)
				a, err := s.send("POST", b.path+"/docs", `{"id":"`+id+`","pk":"p"}`, keyed("p"))
				if err != nil || a.status != http.StatusCreated {
					return
				}
				acknowledged <- id
			}
		}()
	}
	for len(acknowledged) < 200 {
		time.Sleep(time.Millisecond)
	}
	s.kill()
	for range writers {
		<-done
	}
	close(acknowledged)
	ok(t, "restart", s.run())
	b = b.again(t)
	there := map[string]bool{}
	for _, id := range ids(s.do(t, "GET", b.path+"/docs", nil, header{"x-ms-max-item-count", "-1"})) {
		there[id] = true
	}
	if len(there) == 0 {
		t.Fatal("nothing is there")
	}
	// The feed is paged; what its first page does not show is read one by one.
	count := 0
	for id := range acknowledged {
		count++
		if !there[id] {
			if got, _ := b.read(t, id); got != http.StatusOK {
				t.Errorf("acknowledged item %s: %d after the kill", id, got)
			}
		}
	}
	t.Logf("%d acknowledged", count)
}

// SIGTERM is a clean stop, and the certificate authority outlives it.
func TestCleanStopAndSameAuthority(t *testing.T) {
	several.Lack(t, "own certificate")
	s := start(t, "--data", t.TempDir())
	b := lives(t, s, nil)
	b.create(t, item{"id": "x"})
	authority := string(s.authority)
	if err := s.stop(); err != nil {
		t.Fatalf("stop: %v\n%s", err, s.output)
	}
	ok(t, "start again", s.run())
	if string(s.authority) != authority {
		t.Error("the CA changed over a restart")
	}
	if got, _ := b.again(t).read(t, "x"); got != http.StatusOK {
		t.Errorf("read after a clean restart: %d", got)
	}
}

// Two processes never share a data folder.
func TestDataFolderIsLocked(t *testing.T) {
	several.Lack(t, "data folder")
	dir := t.TempDir()
	start(t, "--data", dir)
	second, err := launch("--data", dir)
	if err == nil {
		second.stop()
		t.Fatal("a second process opened the same folder")
	}
	t.Log(err)
}
