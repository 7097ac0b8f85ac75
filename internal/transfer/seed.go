package transfer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mayflydb/mayfly/internal/clock"
	"github.com/mayflydb/mayfly/internal/doc"
)

// A Seed is a container in a folder of seeds: DATABASE/CONTAINER.json has its definition, as the admin API takes it,
// and DATABASE/CONTAINER.jsonl its documents, if there are any.
type Seed struct {
	Database, Container string
	Dialect             string
	Definition          map[string]json.RawMessage // without the id
	Items               string                     // path, empty if there are none
}

// definitionMembers are the members that a definition may have, apart from system members, which begin with _.
var definitionMembers = []string{
	"id", "dialect", "defaultTtl", "ttlPropertyPath", "partitionKey", "indexingPolicy", "uniqueKeyPolicy",
	"conflictResolutionPolicy", "geospatialConfig", "computedProperties", "vectorEmbeddingPolicy", "fullTextPolicy",
	"changeFeedPolicy", "clientEncryptionPolicy", "analyticalStorageTtl", "options", "indexes",
}

// Seeds lists the containers of a folder.
func Seeds(dir string) (list []Seed, err error) {
	databases, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, db := range databases {
		if !db.IsDir() || strings.HasPrefix(db.Name(), ".") {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, db.Name()))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			path := filepath.Join(dir, db.Name(), f.Name())
			switch name, ext := strings.TrimSuffix(f.Name(), filepath.Ext(f.Name())), filepath.Ext(f.Name()); ext {
			case ".json":
				s, err := readSeed(path, db.Name(), name)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", path, err)
				}
				list = append(list, s)
			case ".jsonl":
				if _, err := os.Stat(strings.TrimSuffix(path, "l")); errors.Is(err, fs.ErrNotExist) {
					return nil, fmt.Errorf("%s has documents of a container without a definition: add %s.json", path,
						name)
				}
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no seeds: there is no DATABASE/CONTAINER.json in it", dir)
	}
	return list, nil
}

func readSeed(path, db, container string) (Seed, error) {
	s := Seed{Database: db, Container: container, Items: path + "l"}
	if _, err := os.Stat(s.Items); errors.Is(err, fs.ErrNotExist) {
		s.Items = ""
	} else if err != nil {
		return s, err
	}
	text, err := readSmall(path)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal([]byte(text), &s.Definition); err != nil {
		return s, fmt.Errorf("the definition of a container is a JSON object: %w", err)
	}
	for name := range s.Definition {
		if strings.HasPrefix(name, "_") {
			delete(s.Definition, name)
		} else if !slices.Contains(definitionMembers, name) {
			return s, fmt.Errorf("the definition of a container has no %q: there are %s",
				name, strings.Join(definitionMembers, ", "))
		}
	}
	if text, ok := s.Definition["dialect"]; ok && json.Unmarshal(text, &s.Dialect) != nil {
		return s, errors.New("the dialect of a container is a string")
	}
	var id string
	if given, ok := s.Definition["id"]; ok && (json.Unmarshal(given, &id) != nil || id != container) {
		return s, fmt.Errorf("the id of the container is %s, and its file is named %s: leave the id out", given,
			container)
	}
	delete(s.Definition, "id")
	return s, nil
}

// Mongo reports whether the container is a collection of MongoDB.
func (s *Seed) Mongo() bool { return s.Dialect == DialectMongo }

// Open opens the documents. now is the instant that ages count from, in Unix seconds.
func (s *Seed) Open(now int64) (Source, error) {
	lines, err := Open(s.Items, SourceOptions{Format: JSONLines})
	if err != nil {
		return nil, err
	}
	return &agedSource{Source: lines, now: now, member: s.StampMember()}, nil
}

// StampMember is the member that carries the stamps of documents.
func (s *Seed) StampMember() string {
	if s.Mongo() {
		return StampMember
	}
	return ItemStamp
}

// AgeMember is the member of a seed that says how old a document is.
const AgeMember = "_age"

// An agedSource gives documents stamps: of their age, or the present. Those that have a stamp keep it.
type agedSource struct {
	Source
	now    int64
	member string
	text   []byte
}

func (s *agedSource) Next() (Row, error) {
	row, err := s.Source.Next()
	if err != nil || row.Reason != "" {
		return row, err
	}
	row.Size = 0 // the line is another one than in the file
	d, wrong := doc.FromJSON(nil, row.Text, doc.ParseOptions{MaxBytes: MaxLine})
	if wrong != nil { // the server says so, too
		return row, nil
	}
	if age := doc.Lookup(d, AgeMember); !doc.IsUndefined(age) {
		stamp, err := s.stampOf(age)
		if err != nil {
			row.Reason = err.Error()
			return row, nil
		}
		d = doc.With(doc.Without(d, AgeMember), s.member, doc.Int(stamp))
	} else if doc.IsUndefined(doc.Lookup(d, s.member)) {
		d = doc.With(d, s.member, doc.Int(s.now))
	} else {
		return row, nil
	}
	s.text = doc.AppendJSON(s.text[:0], d)
	row.Text = s.text
	return row, nil
}

// stampOf is the stamp of a document of an age.
func (s *agedSource) stampOf(age doc.Value) (int64, error) {
	text, ok := doc.AsString(age)
	if !ok {
		return 0, fmt.Errorf(`the %s is no duration in quotes, such as "3d" or "90m"`, AgeMember)
	}
	d, err := clock.ParseDuration(text)
	if err == nil && d < 0 {
		err = errors.New("the age " + strconv.Quote(text) + " is negative: a document cannot come from the future")
	}
	if err != nil {
		return 0, fmt.Errorf("the %s cannot be read: %w", AgeMember, err)
	}
	stamp := s.now - int64(d/time.Second)
	if stamp < 1 {
		return 0, fmt.Errorf("the age %q is from before 1970", text)
	}
	return stamp, nil
}
