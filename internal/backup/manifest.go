// Package backup is a backup of all data as a tar stream and as a folder. A backup is the files of an engine at one
// moment, with a manifest that says what they must be; files that never change may be left out of a stream if the
// receiver has them from an earlier backup. What is read is checked against the manifest, name, size and checksum of
// each file, so a stream that breaks off or was changed is noticed. The package opens no engine and knows no clock.
package backup

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/fault"
)

// Format is the version of streams and folders.
const Format = 1

// Limits of what is read.
const (
	maxFiles    = 1_000_000
	maxManifest = 256 << 20 // bytes, more than maxFiles need
	maxName     = 100       // bytes of a file's name
)

// Names in a stream and in a folder. The files of the engine are below filesFolder, which is also the name that they
// have in a data folder.
const (
	manifestName = "mayfly-backup.json"
	filesFolder  = "db"
	trailerName  = "mayfly-backup.end"
)

// A Manifest says what a backup has.
type Manifest struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the mayfly that made it
	Taken   time.Time `json:"taken"`   // by the machine's time
	Clock   time.Time `json:"clock"`   // what the clock of the data showed
	Files   []File    `json:"files"`   // sorted by name
}

// A File is one file of the engine.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  string `json:"sha256"` // in hex
}

// Bytes is the size of all files.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// Tables are the checksums of the files that never change: what a caller may leave out of a later backup.
func (m *Manifest) Tables() (sums []string) {
	for _, f := range m.Files {
		if immutable(f.Name) {
			sums = append(sums, f.Sum)
		}
	}
	return sums
}

// immutable reports whether a file of the engine never changes once it is written.
func immutable(name string) bool {
	return strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".blob")
}

// parse reads a manifest and checks it: a name is one plain file name, so that nothing is read or written outside of a
// folder.
func parse(text []byte) (m Manifest, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fault.Wrap(fault.Corrupt, err, "The manifest of the backup cannot be read.")
	}
	if m.Format != Format {
		return m, fault.New(fault.Unsupported, "The backup has format %d, and this mayfly reads %d. "+
			"Use the mayfly that made it: %s.", m.Format, Format, m.Version)
	}
	if len(m.Files) > maxFiles {
		return m, fault.New(fault.TooLarge, "The backup has %d files, more than %d.", len(m.Files), maxFiles)
	}
	for i, f := range m.Files {
		if !plain(f.Name) || f.Size < 0 || len(f.Sum) != 64 || i > 0 && m.Files[i-1].Name >= f.Name {
			return m, fault.New(fault.Corrupt, "The manifest of the backup is damaged at file %.100q.", f.Name)
		}
	}
	return m, nil
}

// plain reports whether a name is that of a file in a folder on every system, and no path.
func plain(name string) bool {
	return name != "" && len(name) <= maxName && name[0] != '.' && name[len(name)-1] != '.' &&
		!slices.ContainsFunc([]byte(name), func(c byte) bool {
			return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' &&
				c != '.'
		})
}
