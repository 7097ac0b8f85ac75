package binaryjson

// The first byte of a value is its type. Azure/azure-cosmos-dotnet-v3:
// Microsoft.Azure.Cosmos/src/Json/JsonBinaryEncoding.TypeMarker.cs and JsonBinaryEncoding.NodeTypes.cs;
// azure_data_cosmos_driver 1.0.0: src/binary_json/markers.rs.
const (
	system  = 0x20 // smaller bytes are numbers themselves; from here 32 predefined strings
	user    = 0x40 // strings of a dictionary outside the body
	userEnd = 0x68

	base64Short    = 0x71 // Base64 text, stored as bytes
	base64Long     = 0x72
	base64URLShort = 0x73
	base64URLLong  = 0x74
	guidLower      = 0x75 // GUID text, stored as digits
	guidUpper      = 0x76
	guidQuoted     = 0x77
	hexLower       = 0x78 // text of 16 different characters, 4 bits each
	hexUpper       = 0x79
	dateTime       = 0x7A
	packed4        = 0x7B // text of a small range of characters, 4 bits each, and so on
	packed5        = 0x7C
	packed6        = 0x7D
	packed7        = 0x7E
	packed7Long    = 0x7F
	sized          = 0x80 // strings of up to 63 bytes
	string1        = 0xC0 // strings after a length of 1, 2 or 4 bytes
	string2        = 0xC1
	string4        = 0xC2
	reference1     = 0xC3 // earlier strings, by a position of 1 to 4 bytes
	reference4     = 0xC6

	numberUint64 = 0xC7
	numberUint8  = 0xC8
	numberInt16  = 0xC9
	numberInt32  = 0xCA
	numberInt64  = 0xCB
	numberDouble = 0xCC
	float32Value = 0xCD
	float64Value = 0xCE
	float16      = 0xCF

	null    = 0xD0
	no      = 0xD1
	yes     = 0xD2
	guid    = 0xD3
	uint8V  = 0xD7
	int8V   = 0xD8
	int16V  = 0xD9
	int32V  = 0xDA
	int64V  = 0xDB
	uint32V = 0xDC
	binary1 = 0xDD // bytes after a length of 1, 2 or 4 bytes
	binary2 = 0xDE
	binary4 = 0xDF

	arr0       = 0xE0 // first and last form of arrays and of objects, see frame
	arrLC4     = 0xE7
	obj0       = 0xE8
	objLC4     = 0xEF
	arrNum1    = 0xF0 // numbers of one type after a count of 1 or 2 bytes
	arrNum2    = 0xF1
	arrArrNum1 = 0xF2 // such arrays, all of the same length
	arrArrNum2 = 0xF3
	invalid    = 0xFF
)

// isString reports whether a value is a string in any form.
func isString(marker byte) bool {
	return marker >= system && marker < userEnd || marker >= base64Short && marker <= reference4
}

// systemStrings are the predefined strings. Azure/azure-cosmos-dotnet-v3:
// Microsoft.Azure.Cosmos/src/Json/JsonBinaryEncoding.SystemStrings.cs.
var systemStrings = [user - system]string{
	"$s", "$t", "$v", "_attachments", "_etag", "_rid", "_self", "_ts",
	"attachments/", "coordinates", "geometry", "GeometryCollection", "id", "url", "Value", "label",
	"LineString", "link", "MultiLineString", "MultiPoint", "MultiPolygon", "name", "Name", "Type",
	"Point", "Polygon", "properties", "type", "value", "Feature", "FeatureCollection", "_id",
}
