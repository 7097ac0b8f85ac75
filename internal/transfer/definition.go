package transfer

import (
	"encoding/json"
	"fmt"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A Definition is a container as the admin API shows it and takes it.
type Definition struct {
	ID      string            `json:"id"`
	Dialect string            `json:"dialect,omitempty"`
	Options json.RawMessage   `json:"options,omitempty"` // of MongoDB
	Indexes []json.RawMessage `json:"indexes,omitempty"` // of MongoDB

	// Identity is that of the container, which the server chooses: one that is made anew has another one.
	Identity string `json:"identity,omitempty"`
}

// DialectMongo is that of a collection of MongoDB.
const DialectMongo = "mongodb"

// Mongo reports whether the container is a collection of MongoDB.
func (d Definition) Mongo() bool { return d.Dialect == DialectMongo }

// metadata is the text of a metadata.json of mongodump.
// https://github.com/mongodb/mongo-tools: mongorestore/metadata.go, Metadata
type metadata struct {
	Options        json.RawMessage   `json:"options,omitempty"`
	Indexes        []json.RawMessage `json:"indexes"`
	CollectionName string            `json:"collectionName"`
	Type           string            `json:"type"`
}

// idIndex is the index that every collection has.
const idIndex = `{"v":{"$numberInt":"2"},"key":{"_id":{"$numberInt":"1"}},"name":"_id_"}`

// Metadata is the metadata.json of the container, in canonical extended JSON.
func (d Definition) Metadata() (string, error) {
	m := metadata{Indexes: []json.RawMessage{}, CollectionName: d.ID, Type: "collection"}
	if d.Options != nil {
		text, err := canonical(d.Options)
		if err != nil {
			return "", err
		}
		m.Options = text
	}
	for _, index := range d.Indexes {
		text, err := canonical(index)
		if err != nil {
			return "", err
		}
		m.Indexes = append(m.Indexes, text)
	}
	if len(m.Indexes) == 0 {
		m.Indexes = append(m.Indexes, json.RawMessage(idIndex))
	}
	text, err := json.Marshal(m)
	return string(text), err
}

// extended reads a document in extended JSON.
func extended(text []byte) (doc.Doc, error) {
	d, err := doc.FromJSON(nil, text, doc.ParseOptions{MaxBytes: MaxLine})
	if err != nil {
		return nil, err
	}
	return doc.FromExtended(d)
}

func canonical(text []byte) ([]byte, error) {
	d, err := extended(text)
	if err != nil {
		return nil, err
	}
	return doc.AppendCanonicalJSON(nil, d), nil
}

// DefinitionOf is the definition of a collection with the text of its metadata.json, which may be empty.
func DefinitionOf(text string) (Definition, error) {
	d := Definition{Dialect: DialectMongo}
	if text == "" {
		return d, nil
	}
	var m metadata
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return d, fmt.Errorf("the metadata of a collection cannot be read: %w", err)
	}
	d.Options = m.Options
	for _, index := range m.Indexes {
		x, err := extended(index)
		if err != nil {
			return d, fmt.Errorf("the metadata of an index cannot be read: %w", err)
		}
		// As mongorestore does: the version is the server's to choose, and old servers noted the namespace.
		d.Indexes = append(d.Indexes, doc.AppendCanonicalJSON(nil, doc.Without(x, "v", "ns")))
	}
	return d, nil
}
