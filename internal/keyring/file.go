package keyring

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A file is what Options.Others has, as JSON.
type file struct {
	Keys  map[Name]fileKey `json:"keys"`
	Salts []byte           `json:"salts"`
}

type fileKey struct {
	Key   string    `json:"key"`
	Since time.Time `json:"since,omitzero"`
}

// load reads the other keys; false if no file has them.
func (r *Ring) load(set *Set) (bool, error) {
	if r.o.Others == "" {
		return false, nil
	}
	text, err := os.ReadFile(r.o.Others)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("account keys: %w", err)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return false, fault.Wrap(fault.Corrupt, err, "%s is not a file of account keys", r.o.Others)
	}
	if len(f.Salts) == 0 {
		return false, fault.New(fault.Corrupt, "%s has no salts", r.o.Others)
	}
	for i, name := range Names[1:] {
		own := f.Keys[name]
		if set[i+1], err = newKey(name, own.Key, own.Since, r.o.Others); err != nil {
			return false, fmt.Errorf("%s: %w", r.o.Others, err)
		}
	}
	r.salts = f.Salts
	return true, nil
}

func (r *Ring) save(set *Set) error {
	f := file{Keys: map[Name]fileKey{}, Salts: r.salts}
	for _, k := range set[1:] {
		f.Keys[k.Name] = fileKey{k.Text, k.Since}
	}
	text, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return r.o.Write(r.o.Others, append(text, '\n'))
}
