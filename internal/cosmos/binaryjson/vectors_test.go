package binaryjson

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

// vectors are pairs of hexadecimal encodings, without the preamble, and JSON text. Most are the test data that the
// SDKs share: azure_data_cosmos_driver 1.0.0: testdata/binary_json_vectors.json.
var vectors = []struct{ name, binary, text string }{
	{"null", "D0", `null`},
	{"false", "D1", `false`},
	{"true", "D2", `true`},
	{"literal 0", "00", `0`},
	{"literal 31", "1F", `31`},
	{"uint8", "C8 C8", `200`},
	{"int16", "C9 18 FC", `-1000`},
	{"int32", "CA 70 11 01 00", `70000`},
	{"int64", "CB 00 0E FA D5 FE FF FF FF", `-5000000000`},
	{"the least int64", "CB 00 00 00 00 00 00 00 80", `-9223372036854775808`},
	{"uint64", "C7 FE FF FF FF FF FF FF FF", `18446744073709551614`},
	{"uint64 that int64 can hold", "C7 07 00 00 00 00 00 00 00", `7`},
	{"double", "CC 00 00 00 00 00 00 0C 40", `3.5`},
	{"whole double", "CC 00 00 00 00 00 00 08 40", `3.0`},
	{"negative zero", "CC 00 00 00 00 00 00 00 80", `-0.0`},
	{"extended uint8", "D7 C8", `200`},
	{"extended int8", "D8 FB", `-5`},
	{"extended int16", "D9 18 FC", `-1000`},
	{"extended int32", "DA 90 EE FE FF", `-70000`},
	{"extended int64", "DB 00 0E FA D5 FE FF FF FF", `-5000000000`},
	{"extended uint32", "DC FE FF FF FF", `4294967294`},
	{"float32", "CD 00 00 C0 3F", `1.5`},
	{"float64", "CE 00 00 00 00 00 00 02 C0", `-2.25`},
	{"system string", "2C", `"id"`},
	{"first system string", "20", `"$s"`},
	{"another system string", "2B", `"GeometryCollection"`},
	{"last system string", "3F", `"_id"`},
	{"empty string", "80", `""`},
	{"string of 2 bytes", "82 68 69", `"hi"`},
	{"string with a NUL", "83 61 00 62", `"a\u0000b"`},
	{"string in UTF-8", "87 C3 BC F0 9F 98 80 22", `"ü😀\""`},
	{"string with a length of 1 byte", "C0 05 68 65 6C 6C 6F", `"hello"`},
	{"string with a length of 2 bytes", "C1 2C 01" + strings.Repeat("61", 300), `"` + strings.Repeat("a", 300) + `"`},
	{"string with a length of 4 bytes", "C2 05 00 00 00 68 65 6C 6C 6F", `"hello"`},
	{"GUID in small letters", "75 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F",
		`"00102030-4050-6070-8090-a0b0c0d0e0f0"`},
	{"GUID in capital letters", "76 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F",
		`"00102030-4050-6070-8090-A0B0C0D0E0F0"`},
	{"GUID in quotes", "77 00 00 84 21 00 00 20 00 00 00 A6 F7 9A A8 00 00",
		`"\"00004812-0000-0200-0000-6a7fa98a0000\""`},
	{"Base64", "71 01 00 66 6F 6F", `"Zm9v"`},
	{"Base64 with padding", "71 01 01 66 6F", `"Zm8="`},
	{"Base64 with two bytes of padding", "71 01 02 41", `"QQ=="`},
	{"Base64 without its padding", "71 01 FD 41", `"QQ"`},
	{"Base64 without its one byte of padding", "71 01 FE 66 6F", `"Zm8"`},
	{"empty Base64", "71 00 00", `""`},
	{"long Base64", "72 02 00 00 66 6F 6F 62 61 72", `"Zm9vYmFy"`},
	{"Base64 with its special letters", "71 01 00 FB FF FE", `"+//+"`},
	{"Base64 for URLs", "73 01 00 FB FF FE", `"-__-"`},
	{"long Base64 for URLs", "74 01 00 00 FB FF FE", `"-__-"`},
	{"hexadecimal digits", "78 04 A1 B2", `"1a2b"`},
	{"capital hexadecimal digits", "79 04 A1 B2", `"1A2B"`},
	{"an odd number of digits", "78 01 0F", `"f"`},
	{"time", "7A 07 13 53 1C 02", `"2024-01"`},
	{"characters of 4 bits", "7B 04 30 10 32", `"0123"`},
	{"characters of 5 bits", "7C 03 61 20 08", `"abc"`},
	{"characters of 6 bits", "7D 04 61 40 20 0C", `"abcd"`},
	{"characters of 7 bits", "7E 02 C8 34", `"Hi"`},
	{"characters of 7 bits, long", "7F 02 00 C8 34", `"Hi"`},
	{"no characters", "7D 00 61", `""`},
	{"GUID value", "D3 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F", `"03020100-0504-0706-0809-0a0b0c0d0e0f"`},
	{"bytes", "DD 04 DE AD BE EF", `"3q2+7w=="`},
	{"no bytes", "DD 00", `""`},
	{"bytes with a length of 2 bytes", "DE 03 00 01 02 03", `"AQID"`},
	{"bytes with a length of 4 bytes", "DF 04 00 00 00 DE AD BE EF", `"3q2+7w=="`},
	{"empty array", "E0", `[]`},
	{"array of one", "E1 D2", `[true]`},
	{"array, length of 1 byte", "E2 03 00 01 D0", `[0,1,null]`},
	{"array, length of 2 bytes", "E3 03 00 00 01 D0", `[0,1,null]`},
	{"array, length of 4 bytes", "E4 03 00 00 00 00 01 D0", `[0,1,null]`},
	{"array, length and count of 1 byte", "E5 03 03 00 01 D0", `[0,1,null]`},
	{"array, length and count of 2 bytes", "E6 03 00 03 00 00 01 D0", `[0,1,null]`},
	{"array, length and count of 4 bytes", "E7 03 00 00 00 03 00 00 00 00 01 D0", `[0,1,null]`},
	{"empty array with length and count", "E5 00 00", `[]`},
	{"empty object", "E8", `{}`},
	{"object of one", "E9 2C D2", `{"id":true}`},
	{"object, length of 1 byte", "EA 04 2C 00 3B 01", `{"id":0,"type":1}`},
	{"object, length of 2 bytes", "EB 04 00 2C 00 3B 01", `{"id":0,"type":1}`},
	{"object, length of 4 bytes", "EC 04 00 00 00 2C 00 3B 01", `{"id":0,"type":1}`},
	{"object, length and count of 1 byte", "ED 04 02 2C 00 3B 01", `{"id":0,"type":1}`},
	{"object, length and count of 2 bytes", "EE 04 00 02 00 2C 00 3B 01", `{"id":0,"type":1}`},
	{"object, length and count of 4 bytes", "EF 04 00 00 00 02 00 00 00 2C 00 3B 01", `{"id":0,"type":1}`},
	{"nested", "E2 05 E1 00 E9 2C 01", `[[0],{"id":1}]`},
	{"an item", "ED 0A 02 82 69 64 81 31 82 70 6B 81 70", `{"id":"1","pk":"p"}`},
	{"uint8 of one type", "F0 D7 03 0A 14 1E", `[10,20,30]`},
	{"int8 of one type", "F0 D8 03 FB 00 05", `[-5,0,5]`},
	{"int16 of one type, long", "F1 D9 03 00 FF FF 00 00 E8 03", `[-1,0,1000]`},
	{"int32 of one type", "F0 DA 03 01 00 00 00 02 00 00 00 03 00 00 00", `[1,2,3]`},
	{"int64 of one type", "F0 DB 02 01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00", `[1,2]`},
	{"uint32 of one type", "F0 DC 02 FE FF FF FF 00 00 00 00", `[4294967294,0]`},
	{"float32 of one type", "F0 CD 02 00 00 C0 3F 00 00 80 BE", `[1.5,-0.25]`},
	{"float64 of one type", "F0 CE 02 00 00 00 00 00 00 F8 3F 00 00 00 00 00 00 02 C0", `[1.5,-2.25]`},
	{"none of one type", "F0 DA 00", `[]`},
	{"arrays of one type", "F2 F0 DA 02 02 01 00 00 00 02 00 00 00 03 00 00 00 04 00 00 00", `[[1,2],[3,4]]`},
	{"arrays of one type, long", "F3 F1 DA 02 00 02 00 01 00 00 00 02 00 00 00 03 00 00 00 04 00 00 00",
		`[[1,2],[3,4]]`},
	{"empty arrays of one type", "F2 F0 DA 00 02", `[[],[]]`},
	{"reference of 1 byte", "E2 05 82 68 69 C3 03", `["hi","hi"]`},
	{"reference of 2 bytes", "E2 06 82 68 69 C4 03 00", `["hi","hi"]`},
	{"reference of 3 bytes", "E2 07 82 68 69 C5 03 00 00", `["hi","hi"]`},
	{"reference of 4 bytes", "E2 08 82 68 69 C6 03 00 00 00", `["hi","hi"]`},
	{"reference to a short form", "E2 06 78 04 A1 B2 C3 03", `["1a2b","1a2b"]`},
	{"reference as a name, to a name", "E2 0B E9 82 68 69 00 E9 C3 04 82 68 69", `[{"hi":0},{"hi":"hi"}]`},
	{"two members of one name", "EA 09 81 61 00 81 62 01 81 61 02", `{"a":0,"b":1,"a":2}`},
}

// unhex decodes the bytes of a value without the preamble.
func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString("80" + strings.ReplaceAll(digits, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestValuesAreThoseOfTheirText(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			want, err := doc.ValueFromJSON([]byte(v.text))
			if err != nil {
				t.Fatal(err)
			}
			have, err := Value(unhex(t, v.binary))
			if err != nil {
				t.Fatal(err)
			}
			if !have.Equal(want) {
				t.Errorf("%s of type %s, want %s of type %s", doc.AppendJSONValue(nil, have), have.Type, v.text,
					want.Type)
			}
		})
	}
}
