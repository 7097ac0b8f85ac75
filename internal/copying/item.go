package copying

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An item is one of a NoSQL container, with its members as the source wrote them and in that order, without those that
// the service adds.
type item struct {
	members []member
	id      string
	stamp   int64  // `_ts`
	mark    string // of this version among those of a container
}

type member struct {
	name  string
	value json.RawMessage
}

// system are the members that the service adds, and the change feed.
var system = map[string]bool{
	"_rid": true, "_self": true, "_etag": true, "_attachments": true, "_ts": true, "_lsn": true, "_metadata": true,
}

func parseItem(raw []byte) (i item, err error) {
	in := json.NewDecoder(bytes.NewReader(raw))
	if t, err := in.Token(); err != nil || t != json.Delim('{') {
		return i, errors.New("the source sent an item that is no JSON object")
	}
	for in.More() {
		t, err := in.Token()
		if err != nil {
			return i, err
		}
		m := member{name: t.(string)}
		if err := in.Decode(&m.value); err != nil {
			return i, err
		}
		switch m.name {
		case "id":
			err = json.Unmarshal(m.value, &i.id)
		case "_ts":
			err = json.Unmarshal(m.value, &i.stamp)
		}
		if err != nil {
			return i, fmt.Errorf("the member %s of an item: %w", m.name, err)
		}
		if !system[m.name] {
			i.members = append(i.members, m)
		}
	}
	i.mark = markOf(raw)
	return i, nil
}

// markOf is short, because a checkpoint holds a page of marks. The bytes have the `_etag` of the version.
func markOf(raw []byte) string {
	short := sum(raw)
	return base64.RawStdEncoding.EncodeToString(short[:12])
}

// bytes is the item as JSON, with further members.
func (i item) bytes(further ...member) []byte {
	b := []byte{'{'}
	for n, m := range append(i.members[:len(i.members):len(i.members)], further...) {
		if n > 0 {
			b = append(b, ',')
		}
		key, _ := json.Marshal(m.name) // a string always has a form
		b = append(append(append(b, key...), ':'), m.value...)
	}
	return append(b, '}')
}

func (i item) get(name string) json.RawMessage {
	for _, m := range i.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// with is the item with another value of a member; nil takes the member out.
func (i item) with(name string, value json.RawMessage) item {
	members, found := make([]member, 0, len(i.members)+1), false
	for _, m := range i.members {
		if m.name == name {
			if found = true; value == nil {
				continue
			}
			m.value = value
		}
		members = append(members, m)
	}
	if !found && value != nil {
		members = append(members, member{name, value})
	}
	i.members = members
	return i
}

// ttl is the item's own life span; ok is false if it has none that counts.
func (i item) ttl() (seconds int64, ok bool) {
	f, err := strconv.ParseFloat(string(i.get("ttl")), 64)
	if err != nil || f != float64(int64(f)) || f != never && (f < 1 || f > maxTTL) {
		return 0, false
	}
	return int64(f), true
}

// partitionKey is the partition key of the item as a header has it: JSON in ASCII, where {} is no value. The client's
// own form does not know a part that is missing, and writes characters outside the basic plane in a way that is
// no JSON.
func (i item) partitionKey(paths []string) (string, error) {
	parts := make([]string, len(paths))
	for n, path := range paths {
		value, err := i.at(path)
		if err != nil {
			return "", err
		}
		parts[n] = value
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

func (i item) at(path string) (string, error) {
	steps, err := pathSteps(path)
	if err != nil {
		return "", err
	}
	value := i.get(steps[0])
	for _, step := range steps[1:] {
		var inner map[string]json.RawMessage
		if json.Unmarshal(value, &inner) != nil {
			return "{}", nil
		}
		value = inner[step]
	}
	value = bytes.TrimSpace(value)
	if len(value) == 0 || value[0] == '{' || value[0] == '[' {
		return "{}", nil
	}
	if value[0] != '"' {
		return string(value), nil
	}
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		return "", err
	}
	return quoteASCII(text), nil
}

// pathSteps divides a path such as /a/"b c".
func pathSteps(path string) (steps []string, err error) {
	for rest := path; rest != ""; {
		if !strings.HasPrefix(rest, "/") {
			return nil, fmt.Errorf("the path %q of the partition key cannot be read", path)
		}
		rest = rest[1:]
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("the path %q of the partition key cannot be read", path)
			}
			step, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("the path %q of the partition key cannot be read", path)
			}
			steps, rest = append(steps, step), rest[len(quoted):]
			continue
		}
		step, after, more := strings.Cut(rest, "/")
		steps, rest = append(steps, step), after
		if more {
			rest = "/" + after
		}
	}
	if len(steps) == 0 {
		return nil, errors.New("the container has a partition key without a path")
	}
	return steps, nil
}

// quoteASCII is a string in JSON, in characters that a header may have.
func quoteASCII(text string) string {
	plain, _ := json.Marshal(text) // a string always has a form
	var b strings.Builder
	for _, r := range string(plain) {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
