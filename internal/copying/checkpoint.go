package copying

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A checkpoint says how far the work is. It holds no secrets.
type checkpoint struct {
	From       string               `json:"from"`
	To         string               `json:"to"`
	Lives      Lives                `json:"lives"`
	Containers map[string]*jobState `json:"containers"`

	path string
}

// A jobState is how far one container is. It only claims what the target has acknowledged.
type jobState struct {
	Part     Part            `json:"part"`
	Done     bool            `json:"done"`
	Ranges   []rangeState    `json:"ranges,omitempty"`   // of the change feed
	Last     json.RawMessage `json:"last,omitempty"`     // _id of MongoDB, as {"_id": …} in extended JSON
	Position string          `json:"position,omitempty"` // of an export of the admin API
}

// isNew reports whether nothing has been done.
func (s *jobState) isNew() bool {
	return !s.Done && !s.Part.Created && s.Part.Read == 0 && s.Ranges == nil && s.Last == nil && s.Position == ""
}

// load reads the checkpoint of an interrupted run, or begins one.
func (o *Options) load() (*checkpoint, error) {
	c := &checkpoint{From: o.From.Name(), To: o.To.Name(), Lives: o.Lives, Containers: map[string]*jobState{}}
	if o.DryRun || o.Checkpoint == "" {
		return c, nil
	}
	c.path = o.Checkpoint
	if o.Restart {
		return c, nil
	}
	text, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	found := &checkpoint{path: c.path}
	if err := json.Unmarshal(text, found); err != nil || found.Containers == nil {
		return nil, fmt.Errorf("%s is no checkpoint that can be read: copy with --restart to begin anew", c.path)
	}
	if found.From != c.From || found.To != c.To || found.Lives != c.Lives {
		return nil, fmt.Errorf("%s is the checkpoint of another copy, from %s to %s with lives %s: "+
			"name another file with --checkpoint, or copy with --restart", c.path, found.From, found.To, found.Lives)
	}
	return found, nil
}

func (c *checkpoint) job(n name) *jobState {
	if c.Containers[n.String()] == nil {
		c.Containers[n.String()] = &jobState{}
	}
	return c.Containers[n.String()]
}

// save replaces the file. It is on the disk when save returns.
func (c *checkpoint) save() error {
	if c.path == "" {
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(c.path), filepath.Base(c.path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func (c *checkpoint) drop() error {
	if c.path == "" {
		return nil
	}
	if err := os.Remove(c.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
