package keyring

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

const primaryText = "cHJpbWFyeSBrZXkgb2YgdGhlIHRlc3RzLCBub3Qgc2VjcmV0"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func write(path string, content []byte) error { return os.WriteFile(path, content, 0o600) }

func open(t *testing.T, o Options) *Ring {
	t.Helper()
	o.Write = write
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func rotate(t *testing.T, r *Ring, name Name) *Key {
	t.Helper()
	k, err := r.Rotate(name, noon)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestFourKeys(t *testing.T) {
	r := open(t, Options{Primary: primaryText, Origin: "as given"})
	seen := map[string]bool{}
	for i, k := range r.Now() {
		if k.Name != Names[i] || r.Now().Key(k.Name) != k || r.Now().Find(k.Text) != k {
			t.Errorf("key %d is %q", i, k.Name)
		}
		if want := i >= 2; k.ReadOnly() != want {
			t.Errorf("%s: read-only %v", k.Name, !want)
		}
		seen[k.Text] = true
	}
	if len(seen) != 4 {
		t.Error("two keys are the same")
	}
	for _, text := range []string{"", "x", primaryText + "x", primaryText[1:]} {
		if r.Now().Find(text) != nil {
			t.Errorf("found %q", text)
		}
	}
}

func TestRotation(t *testing.T) {
	r := open(t, Options{Primary: primaryText})
	for _, name := range Names {
		before := *r.Now()
		k := rotate(t, r, name)
		for _, old := range before {
			if kept := r.Now().Has(old); kept != (old.Name != name) {
				t.Errorf("%s rotated: %s kept is %v", name, old.Name, kept)
			}
		}
		if r.Now().Find(k.Text) != k || k.Since != noon || len(k.Secret) != Bytes {
			t.Errorf("the new key is not there")
		}
	}
	if _, err := r.Rotate("tertiary", noon); fault.KindOf(err) != fault.NotFound {
		t.Errorf("unknown name: %v", err)
	}
	fixed := open(t, Options{Primary: primaryText, Fixed: "it is given by --key"})
	if _, err := fixed.Rotate(Primary, noon); fault.KindOf(err) != fault.Conflict ||
		!strings.Contains(err.Error(), "--key") {
		t.Errorf("fixed key: %v", err)
	}
	if fixed.Now().Find(primaryText) == nil {
		t.Error("the fixed key is gone")
	}
}

// Keys that were shown or replaced are there after a restart, and so are the salts, whatever the primary key is then.
func TestKeysAreKept(t *testing.T) {
	dir := t.TempDir()
	o := Options{
		Primary: primaryText, File: filepath.Join(dir, "account.key"), Others: filepath.Join(dir, "account.keys"),
	}
	r := open(t, o)
	if _, err := os.Stat(o.Others); err == nil {
		t.Error("keys that nobody knows are on disk")
	}
	salts := string(r.Salts())
	if err := r.Keep(); err != nil {
		t.Fatal(err)
	}
	shown := r.Now().Key(SecondaryReadonly).Text
	secondary, primary := rotate(t, r, Secondary), rotate(t, r, Primary)
	text, err := os.ReadFile(o.File)
	if err != nil || strings.TrimSpace(string(text)) != primary.Text {
		t.Errorf("the file of the primary key has %q, error %v", text, err)
	}
	o.Primary = primary.Text
	again := open(t, o)
	if string(again.Salts()) != salts {
		t.Error("other salts after a restart")
	}
	for _, text := range []string{shown, secondary.Text, primary.Text} {
		if again.Now().Find(text) == nil {
			t.Error("a key is gone after a restart")
		}
	}
	if got := again.Now().Key(Secondary).Since; !got.Equal(noon) {
		t.Errorf("made at %v", got)
	}
	if again.Now().Find(primaryText) != nil {
		t.Error("the old key is back")
	}
}

func TestBadFiles(t *testing.T) {
	o := Options{Primary: primaryText, Others: filepath.Join(t.TempDir(), "account.keys"), Write: write}
	for _, text := range []string{"", "{}", `{"salts":"AAAA"}`, `{"salts":"AAAA","keys":{"secondary":{"key":"!"}}}`} {
		if err := write(o.Others, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), o.Others) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := New(Options{Primary: "key!"}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("not base64: %v", err)
	}
}

// A key that cannot be written is not replaced.
func TestFailedWriteChangesNothing(t *testing.T) {
	o := Options{Primary: primaryText, File: "f", Others: "o", Write: func(string, []byte) error {
		return errors.New("full")
	}}
	r, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	before := r.Now()
	for _, name := range Names {
		if _, err := r.Rotate(name, noon); err == nil || r.Now() != before {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
