package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mayflydb/mayfly/internal/remote"
	"github.com/mayflydb/mayfly/internal/terminal"
)

// A containerDraft holds the flags of a container to create.
type containerDraft struct {
	partitionKey, uniqueKeys            []string
	ttl, property, indexing, definition string
	partitions                          int
	mongo                               bool
}

func (c command) createContainer() *cobra.Command {
	var d containerDraft
	cmd := c.online(
		&cobra.Command{
			Use: "create DB/CONTAINER", Short: "Create a container, or a collection of MongoDB",
			Args: cobra.ExactArgs(1),
			Example: "  mayfly container create shop/carts --partition-key /customer --ttl 90d\n" +
				"  mayfly container create shop/visits --mongo --ttl never\n" +
				"  mayfly container show shop/carts --json | mayfly container create shop/copy --definition -",
			ValidArgsFunction: c.completeContainers(),
		},
		func(ctx context.Context, s *session) error {
			p, err := s.container()
			if err != nil {
				return err
			}
			body, err := d.body(c.in, p)
			if err != nil {
				return err
			}
			path := remote.Path("databases", p.db, "containers")
			return ask(ctx, s, http.MethodPost, path, body, func(containerState) error {
				return s.say("container %s created", terminal.Plain(p.String()))
			})
		},
	)
	f := cmd.Flags()
	f.StringArrayVar(&d.partitionKey, "partition-key", nil,
		"path of the partition key; several for a hierarchical one (default /id)")
	f.IntVar(&d.partitions, "partitions", 0,
		"ranges of partition keys, from 1 to 256 (default: what the server's --partitions says)")
	f.StringVar(&d.ttl, "ttl", "", "lifetime of items, such as 90d; never: items may have a ttl of their own")
	f.StringVar(&d.property, "ttl-property", "", "path of the property that holds deadlines, see docs/ttl.md")
	f.StringArrayVar(&d.uniqueKeys, "unique-key", nil,
		"paths that are unique together, separated by commas; repeatable")
	f.StringVar(&d.indexing, "indexing", "", "file with the indexing policy as JSON")
	f.StringVar(&d.definition, "definition", "",
		"file with the whole definition, as show --json prints it; - for stdin")
	f.BoolVar(&d.mongo, "mongo", false, "create a collection of MongoDB")
	return cmd
}

// body is the definition that the flags ask for.
func (d containerDraft) body(in io.Reader, p place) (map[string]any, error) {
	body := map[string]any{}
	if d.definition != "" {
		if err := readJSON(in, d.definition, &body); err != nil {
			return nil, fmt.Errorf("--definition: %w", err)
		}
		for _, shown := range []string{"database", "items", "bytes", "identity", "_etag", "_ts", "_rid", "_self"} {
			delete(body, shown)
		}
	}
	body["id"] = p.container
	if d.mongo {
		if len(d.partitionKey)+len(d.uniqueKeys) > 0 || d.indexing+d.property != "" || d.partitions != 0 {
			return nil, usage{errors.New("a collection of MongoDB has no --partition-key, --partitions, " +
				"--unique-key, --indexing or --ttl-property: leave them out")}
		}
		body["dialect"] = "mongodb"
	} else if err := d.nosql(in, body); err != nil {
		return nil, err
	}
	if d.ttl != "" {
		ttl, err := parseTTL(d.ttl)
		if err != nil {
			return nil, usage{fmt.Errorf("--ttl: %w", err)}
		}
		body["defaultTtl"] = ttl
	}
	return body, nil
}

// nosql adds what only a container of the API for NoSQL has.
func (d containerDraft) nosql(in io.Reader, body map[string]any) error {
	if paths := d.partitionKey; len(paths) > 0 || body["partitionKey"] == nil && body["dialect"] == nil {
		if len(paths) == 0 {
			paths = []string{"/id"}
		}
		kind := "Hash"
		if len(paths) > 1 {
			kind = "MultiHash"
		}
		body["partitionKey"] = map[string]any{"paths": paths, "kind": kind, "version": 2}
	}
	if d.partitions != 0 {
		body["partitions"] = d.partitions
	}
	if d.property != "" {
		body["ttlPropertyPath"] = d.property
	}
	if len(d.uniqueKeys) > 0 {
		var keys []any
		for _, key := range d.uniqueKeys {
			keys = append(keys, map[string]any{"paths": strings.Split(key, ",")})
		}
		body["uniqueKeyPolicy"] = map[string]any{"uniqueKeys": keys}
	}
	if d.indexing != "" {
		var policy json.RawMessage
		if err := readJSON(in, d.indexing, &policy); err != nil {
			return fmt.Errorf("--indexing: %w", err)
		}
		body["indexingPolicy"] = policy
	}
	return nil
}

// maxFile is the largest file that is read as one JSON value: a document has at most 16 MiB.
const maxFile = 32 << 20

// readText reads a file, or in if the name is -.
func readText(in io.Reader, name string) ([]byte, error) {
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d MiB", name, maxFile>>20)
	}
	return text, err
}

func readJSON(in io.Reader, name string, v any) error {
	text, err := readText(in, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s has no JSON of the expected form: %w", name, err)
	}
	return nil
}
