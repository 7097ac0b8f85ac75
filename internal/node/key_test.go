package node

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
)

func TestChooseKey(t *testing.T) {
	own := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	short := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 31)))
	cases := []struct {
		name           string
		given          string
		exposed, allow bool
		memory         bool
		key            string // "" for an error of kind Invalid, "made" for a file's
		place          string
	}{
		{name: "loopback, none given", key: WellKnownKey, place: "the well-known emulator key"},
		{name: "loopback, none given, in memory", memory: true, key: WellKnownKey,
			place: "the well-known emulator key"},
		{name: "loopback, well-known", given: WellKnownKey, key: WellKnownKey, place: "the well-known emulator key"},
		{name: "loopback, own", given: own, key: own, place: "as given"},
		{name: "exposed, well-known", given: WellKnownKey, exposed: true},
		{name: "exposed, well-known, allowed", given: WellKnownKey, exposed: true, allow: true, key: WellKnownKey,
			place: "the well-known emulator key"},
		{name: "exposed, none given", exposed: true, key: "made", place: "account.key"},
		{name: "exposed, none given, well-known allowed", exposed: true, allow: true, key: WellKnownKey,
			place: "the well-known emulator key"},
		{name: "exposed, none given, in memory", exposed: true, memory: true},
		{name: "exposed, own", given: own, exposed: true, key: own, place: "as given"},
		{name: "not base64", given: "key!"},
		{name: "too short", given: short},
	}
	for _, c := range cases {
		dir := t.TempDir()
		if c.memory {
			dir = ""
		}
		got, err := chooseKey(c.given, c.exposed, c.allow, dir)
		if c.key == "" {
			if fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: key from %q, error %v, want an invalid one", c.name, got.place, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if c.key == "made" {
			c.key, c.place = got.key, filepath.Join(dir, c.place)
			if raw, err := base64.StdEncoding.DecodeString(got.key); err != nil || len(raw) != keyBytes {
				t.Errorf("%s: made %d bytes, error %v, want %d", c.name, len(raw), err, keyBytes)
			}
		}
		if got.key != c.key || got.place != c.place {
			t.Errorf("%s: another key than wanted, from %q, want from %q", c.name, got.place, c.place)
		}
	}
}

func TestMadeKeyIsKeptAndPrivate(t *testing.T) {
	dir := t.TempDir()
	first, err := chooseKey("", true, false, dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := chooseKey("", true, false, dir)
	if err != nil {
		t.Fatal(err)
	}
	if first != again {
		t.Error("a second start made another key")
	}
	info, err := os.Stat(first.place)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode().Perm())
	}
	if othersHaveAccess(first.place) {
		t.Error("others may read it")
	}
	if err := os.Chmod(first.place, 0o640); err != nil {
		t.Fatal(err)
	}
	if !othersHaveAccess(first.place) {
		t.Error("mode 0640 is not noticed")
	}
	if err := os.WriteFile(first.place, []byte("half a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := chooseKey("", true, false, dir); err == nil || !strings.Contains(err.Error(), first.place) {
		t.Errorf("damaged file: error %v, want one that names it", err)
	}
}
