package binaryjson

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, binary, want string }{
		{"no value", "", "The binary JSON ends too early at byte 1."},
		{"half a number", "CA 01 02", "The binary JSON ends too early at byte 4."},
		{"half a string", "C0 05 68 69", "The binary JSON ends too early at byte 5."},
		{"a string of 4 GiB", "C2 FF FF FF FF 68", "The binary JSON ends too early at byte 7."},
		{"half a GUID", "75 01 02", "The binary JSON ends too early at byte 4."},
		{"half Base64", "71 01 00 66", "The binary JSON ends too early at byte 5."},
		{"half a text of 7 bits", "7E 04 00", "The binary JSON ends too early at byte 4."},
		{"a text without its base", "7B 04", "The binary JSON ends too early at byte 3."},
		{"bytes of 4 GiB", "DF FF FF FF FF", "The binary JSON ends too early at byte 6."},
		{"half an array of numbers", "F0 DA 03 01 00 00 00", "The binary JSON ends too early at byte 8."},
		{"an array of one that is not there", "E1", "The binary JSON ends too early at byte 2."},
		{"an object without its value", "E9 2C", "The binary JSON ends too early at byte 3."},
		{"an array beyond the body", "E2 05 00", "The binary JSON ends too early at byte 4."},
		{"an array of 4 GiB", "E4 FF FF FF FF", "The binary JSON ends too early at byte 6."},
		{"an element beyond its array", "E2 03 E2 01 C9 05 00",
			"A value exceeds the length of the object or array around it at byte 6."},
		{"an array beyond its array", "E2 02 E2 01 00",
			"A value exceeds the length of the object or array around it at byte 5."},
		{"fewer elements than counted", "E5 01 05 00",
			"An object or array of 5 elements has another number of them at byte 5."},
		{"more elements than counted", "E5 02 01 00 00",
			"An object or array of 1 elements has another number of them at byte 5."},
		{"4 billion elements", "E7 01 00 00 00 FF FF FF 7F 00",
			"An object or array of 2147483647 elements has another number of them at byte 11."},
		{"something behind the value", "D2 D2", "There is data after the JSON value at byte 2."},
		{"an unknown type", "D4",
			"A value was expected instead of 0xD4, which does not begin a value in binary JSON at byte 1."},
		{"the invalid type", "E1 FF",
			"A value was expected instead of 0xFF, which does not begin a value in binary JSON at byte 2."},
		{"an unknown string", "70",
			"A value was expected instead of 0x70, which does not begin a value in binary JSON at byte 1."},
		{"a float of 16 bits", "CF 00 00", "There is a 16-bit float, which has no JSON form at byte 1."},
		{"NaN", "CC 00 00 00 00 00 00 F8 7F", "There is a number beyond the range of a double at byte 2."},
		{"infinity", "CD 00 00 80 7F", "There is a number beyond the range of a double at byte 2."},
		{"minus infinity in an array of numbers", "F0 CD 01 00 00 80 FF",
			"There is a number beyond the range of a double at byte 4."},
		{"a short string of a dictionary", "43", "There is a string of a dictionary outside the body at byte 1."},
		{"a long string of a dictionary", "61 05", "There is a string of a dictionary outside the body at byte 1."},
		{"no UTF-8", "C0 01 FF", "There is invalid UTF-8 in the string at byte 1."},
		{"half a surrogate pair", "83 ED A0 80", "There is invalid UTF-8 in the string at byte 1."},
		{"packed characters that are not ASCII", "7B 02 7F 10", "There is invalid UTF-8 in the string at byte 1."},
		{"padding of Base64 beyond 2", "71 01 F0 66 6F 6F", "There is Base64 text with an invalid padding at byte 1."},
		{"padding of nothing", "71 00 01", "There is Base64 text with an invalid padding at byte 1."},
		{"a name that is a number", "E9 00 D2", "The name of a member was expected at byte 2."},
		{"a name with a NUL", "E9 83 61 00 62 D2", "The name of a member has a NUL character at byte 2."},
		{"an array of numbers that are null", "F0 D0 01 00", "The type of an array's numbers was expected at byte 2."},
		{"an array of numbers with markers", "F0 C8 01 00", "The type of an array's numbers was expected at byte 2."},
		{"arrays of another form", "F2 F1 DA 00 01", "The type of an array's arrays was expected at byte 2."},
		// Azure/azure-cosmos-dotnet-v3:
		// Microsoft.Azure.Cosmos/tests/Microsoft.Azure.Cosmos.Tests/Json/JsonBinaryReaderReferenceStringTests.cs
		{"a reference to itself", "E2 02 C3 03",
			"There is a reference to byte 3, where no complete earlier string begins at byte 3."},
		{"a reference to a later reference", "E2 07 C0 01 78 C3 08 C3 03",
			"There is a reference to byte 8, where no complete earlier string begins at byte 6."},
		{"a reference to an earlier reference", "E2 07 C0 01 78 C3 03 C3 06",
			"There is a reference to byte 6, where no complete earlier string begins at byte 8."},
		{"a long reference to a later reference", "E2 0D C0 01 78 C6 0B 00 00 00 C6 03 00 00 00",
			"There is a reference to byte 11, where no complete earlier string begins at byte 6."},
		{"a reference beyond the body", "E2 02 C3 FE",
			"There is a reference to byte 254, where no complete earlier string begins at byte 3."},
		{"a negative reference", "E2 05 C6 FF FF FF FF", "The binary JSON ends too early at byte 8."},
		{"a reference to no string", "E2 03 00 C3 03",
			"There is a reference to byte 3, where no complete earlier string begins at byte 4."},
		{"a reference to the preamble", "C3 00",
			"There is a reference to byte 0, where no complete earlier string begins at byte 1."},
		{"a reference to a string that goes beyond it", "E2 05 82 C3 BC C3 05",
			"There is a reference to byte 5, where no complete earlier string begins at byte 6."},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Value(unhex(t, c.binary))
			if err == nil || err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

func TestDocumentIsAnObject(t *testing.T) {
	for _, binary := range []string{"D0", "E0", "81 61", "F0 DA 00", ""} {
		if _, err := Document(nil, unhex(t, binary), doc.ParseOptions{}); err == nil {
			t.Errorf("%q is a document", binary)
		}
	}
	if _, err := Document(nil, unhex(t, "E0"), doc.ParseOptions{}); err == nil ||
		err.Error() != "A JSON object was expected at byte 1." {
		t.Error(err)
	}
}

func TestDocumentInTheMemoryGiven(t *testing.T) {
	dst := append(make([]byte, 0, 100), "before"...)
	skip := func(name []byte) bool { return string(name) == "_ts" }
	d, err := Document(dst, unhex(t, "EA 0E 27 05 81 61 EA 06 27 06 81 62 E1 07 27 08"), doc.ParseOptions{Skip: skip})
	if err != nil {
		t.Fatal(err)
	}
	if have, want := string(doc.AppendJSON(nil, d)), `{"a":{"_ts":6,"b":[7]}}`; have != want {
		t.Errorf("%s, want %s", have, want)
	}
	if &d[0] != &dst[:7][6] || string(dst) != "before" {
		t.Error("the document does not lie behind what was there")
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
}

func TestDepth(t *testing.T) {
	nested := func(depth int) []byte {
		return append(append([]byte{preamble}, bytes.Repeat([]byte{arr0 + 1}, depth)...), 0)
	}
	if _, err := Value(nested(doc.MaxDepth)); err != nil {
		t.Error(err)
	}
	_, err := Value(nested(doc.MaxDepth + 1))
	if err == nil || err.Error() != "Objects and arrays are nested more than 128 deep at byte 129." {
		t.Error(err)
	}
	rows := append(nested(doc.MaxDepth - 1)[:doc.MaxDepth], arrArrNum1, arrNum1, int8V, 1, 1, 0)
	if _, err := Value(rows); err == nil {
		t.Error("arrays of numbers count for nothing")
	}
}

// The text that a few bytes stand for is limited like JSON text.
func TestTextLimit(t *testing.T) {
	long := append([]byte{string2, 0xE8, 0xFD}, strings.Repeat("a", 65000)...)
	references := append([]byte{preamble, arr0 + 4, 0, 0, 0, 0}, long...)
	for range 40 {
		references = append(references, reference1, 6)
	}
	references[2], references[3], references[4] = byte(len(references)-6), byte((len(references)-6)>>8),
		byte((len(references)-6)>>16)
	empty := append([]byte{preamble, arr0 + 3, 0, 0}, bytes.Repeat([]byte{arrArrNum2, arrNum2, int8V, 0, 0, 0xFF,
		0xFF}, 20)...)
	empty[2] = byte(len(empty) - 4)
	for name, body := range map[string][]byte{
		"references":   references,
		"empty arrays": empty,
		"a large body": make([]byte, doc.MaxBytes+1),
		"literals":     append([]byte{preamble, arr0 + 4, 0, 0, 0x10, 0}, make([]byte, 1<<20)...),
		"long text":    append([]byte{preamble, string4, 0xFF, 0xFF, 0x1F, 0}, make([]byte, doc.MaxBytes-1)...),
		"short elements": append([]byte{preamble, arr0 + 4, 0xF0, 0xFF, 0x1F, 0}, bytes.Repeat([]byte{arr0},
			doc.MaxBytes-16)...),
	} {
		_, err := Value(body)
		e, ok := errors.AsType[*doc.Error](err)
		if !ok || !e.TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Value(references[:len(references)-1]); err == nil {
		t.Error("the length of the array is wrong, but taken")
	}
	if _, err := Document(nil, unhex(t, "E9 81 61 81 62"), doc.ParseOptions{MaxBytes: len(`{"a":"b"}`)}); err != nil {
		t.Error(err)
	}
	if _, err := Document(nil, unhex(t, "E9 81 61 81 62"),
		doc.ParseOptions{MaxBytes: len(`{"a":"b"}`) - 1}); err == nil {
		t.Error("the text has one byte more than the limit")
	}
}

func TestIs(t *testing.T) {
	for body, want := range map[string]bool{"": false, "{}": false, "\x80": true, "\x81": false, " \x80": false} {
		if Is([]byte(body)) != want {
			t.Errorf("%q: %v", body, !want)
		}
	}
}
