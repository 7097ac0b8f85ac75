package keys

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
)

// Effective partition keys as the Java SDK's PartitionKeyHashingTests and the
// JavaScript SDK have them.
func TestEffectivePartitionKey(t *testing.T) {
	a1024 := str(strings.Repeat("a", 1024))
	cut := "05C1EB5921F70608" + strings.Repeat("62", 100) + "00"
	for _, c := range []struct {
		name   string
		value  doc.Value
		v1, v2 string
	}{
		{"empty string", str(""), "05C1CF33970FF80800", "32E9366E637A71B4E710384B2F4970A0"},
		{"string", str("partitionKey"), "05C1E1B3D9CD2608716273756A756A706F4C667A00",
			"013AEFCF77FA271571CF665A58C933F1"},
		{"redmond", str("redmond"), "05C1EFE313830C087366656E706F6500", "22E342F38A486A088463DFF7838A5963"},
		{"customer42", str("customer42"), "", "19819C94CE42A1654CCC8110539D9589"},
		{"asdf", str("asdf"), "", "208BF1D598F5B63AD5520F04FE58C5E8"},
		{"99 bytes", str(strings.Repeat("a", 99)), "", "3C02F609961C32AAC2B912B940D1209A"},
		{"100 bytes", str(strings.Repeat("a", 100)), cut, "0DBD7D229437BB665DE6417747994D57"},
		{"101 bytes", str(strings.Repeat("a", 101)), cut, "08042541D30C8BF90D7092B1519AE0BC"},
		{"1024 bytes", a1024, cut, "332BDF5512AE49615F32C7D98C2DB86C"},
		{"50 two-byte characters", str(strings.Repeat("é", 50)), "05C1C359637BD008" + strings.Repeat("C4AA", 50) + "00",
			"377D3782BCDA6372AA7B4EDA6B71CFA1"},
		{"60 two-byte characters are written as 101 bytes", str(strings.Repeat("é", 60)),
			"05C1A329C995C008" + strings.Repeat("C4AA", 50) + "C4", "3ABA5DCC7655B85B22DF2D0454928E02"},
		{"120 two-byte characters are hashed as 100", str(strings.Repeat("é", 120)),
			"05C1D9C91DF1D808" + strings.Repeat("C4AA", 50) + "C4", "070C377218250E32042458E68C80F1E7"},
		{"60 surrogate pairs are hashed as 50", str(strings.Repeat("😀", 60)),
			"05C1DDEBD72DF008" + strings.Repeat("F1A09981", 25) + "F1", "260FBD44EF1B0EDBDFC677191331C06E"},
		{"a split surrogate pair is replaced", str("a" + strings.Repeat("😀", 60)),
			"05C1DF7F53E53C0862" + strings.Repeat("F1A09981", 25), "2C20EBF1864341C1961A63F34D96BF24"},
		{"null", null, "05C1ED45D7475601", "378867E4430E67857ACE5C908374FE16"},
		{"undefined", undefined, "05C1D529E345DC00", "11622DAA78F835834610ABE56EFF5CB5"},
		{"true", yes, "05C1D7C5A903D803", "0E711127C5B5A8E4726AC6DD306A3E59"},
		{"false", no, "05C1DB857D857C02", "2FE1BE91E90A3439635E0E9E37361EF2"},
		{"-128", doc.Int(-128), "05C1D73349F54C053FA0", "01DAEDABF913540367FE219B2AD06148"},
		{"127", doc.Int(127), "05C1DD539DDFCC05C05FE0", "0C507ACAC853ECA7977BF4CEFB562A25"},
		{"smallest int64", doc.Int(math.MinInt64), "05C1DB35F33D1C053C20", "23D5C6395512BDFEAFADAD15328AD2BB"},
		{"largest int64", doc.Int(math.MaxInt64), "05C1B799AB2DD005C3E0", "2EDB959178DFCCA18983F89384D1629B"},
		{"one less is the same double", doc.Int(math.MaxInt64 - 1), "05C1B799AB2DD005C3E0",
			"2EDB959178DFCCA18983F89384D1629B"},
		{"smallest int32", doc.Int(math.MinInt32), "05C1DFBF252BCC053E20", "0B1660D5233C3171725B30D4A5F4CC1F"},
		{"largest int32", doc.Int(math.MaxInt32), "05C1E1F503DFB205C1DFFFFFFFFC", "2D9349D64712AEB5EB1406E2F0BE2725"},
		{"smallest double above 0", doc.Double(math.SmallestNonzeroFloat64), "05C1E5C91F4D3005800101010101010102",
			"0E6CBA63A280927DE485DEF865800139"},
		{"largest double", doc.Double(math.MaxFloat64), "05C1CBE367C53005FFEFFFFFFFFFFFFFFE",
			"31424D996457102634591FF245DBCC4D"},
		{"smallest double", doc.Double(-math.MaxFloat64), "", "27050CC4910CFD9DACE1283D3801DF25"},
		{"0", doc.Int(0), "05C1BF6DA11560058000", "155B95BEDAC4B1E9EC1CDC9BB0DDDE58"},
		{"-0.0", doc.Double(math.Copysign(0, -1)), "", "3D018BB1DF3DB27235766E81FD10406E"},
		{"1", doc.Int(1), "05C1ED172B6B2605BFF0", "20CD98B339BA78A5D0CF6953B87070B0"},
		{"-1", doc.Int(-1), "05C1D1A5BDDF9C054010", "19938E7A936C1C5B9E3AE842BBC16839"},
		{"5", doc.Int(5), "05C1D9C1C5517C05C014", "19C08621B135968252FB34B4CF66F811"},
		{"0.5", doc.Double(0.5), "05C1EF2577DF1805BFE0", "216489229658E4F310F4D80B7076D562"},
		{"5.123…", doc.Double(5.123124190509124), "", "0EF2E2D82460884AF0F6440BE4F726A8"},
		{"1e300", doc.Double(1e300), "05C1AB5FCFAF8005FE37F30F918103D738", "1234CB21048B20039B22F11DBB13CD7B"},
		{"2^53 - 1", doc.Int(9007199254740991), "", "12C221C7032CED1F9E6693CE1428E6CF"},
		{"NaN", doc.Double(math.NaN()), "", "1AA4222583D70ECAA0922D8CA8EDFCB1"},
		{"infinity", doc.Double(math.Inf(1)), "", "3889F7F08A8CE2A5C9829BBB1944B4FF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			values := []doc.Value{c.value}
			if got := formatEPK(EffectivePartitionKey(nil, HashV2, false, values)); got != c.v2 {
				t.Errorf("version 2: %s, want %s", got, c.v2)
			}
			if got := formatEPK(EffectivePartitionKey(nil, HashV2, true, values)); got != c.v2 {
				t.Errorf("multi: %s, want %s", got, c.v2)
			}
			got := EffectivePartitionKey(nil, 0, false, values)
			if c.v1 != "" && formatEPK(got) != c.v1 {
				t.Errorf("version 1: %s, want %s", formatEPK(got), c.v1)
			}
			if n, ok := v1Bytes(append(got, "more"...), 1); !ok || n != len(got) {
				t.Errorf("version 1: length %d, %t, want %d", n, ok, len(got))
			}
		})
	}
}

func TestEffectivePartitionKeyOfSeveral(t *testing.T) {
	five, redmond := doc.Int(5), str("redmond")
	for _, c := range []struct {
		name    string
		version PartitionVersion
		multi   bool
		values  []doc.Value
		want    string
	}{
		{"hashed together", HashV2, false, []doc.Value{five, redmond, yes, null}, "3032DECBE2AB1768D8E0AEDEA35881DF"},
		{"hashed one by one", HashV2, true, []doc.Value{redmond, five, yes, null, undefined},
			"22E342F38A486A088463DFF7838A5963" + "19C08621B135968252FB34B4CF66F811" +
				"0E711127C5B5A8E4726AC6DD306A3E59" +
				"378867E4430E67857ACE5C908374FE16" + "11622DAA78F835834610ABE56EFF5CB5"},
		{"multi is version 2 whatever it says", HashV1, true, []doc.Value{redmond}, "22E342F38A486A088463DFF7838A5963"},
		{"paths", HashV2, true, []doc.Value{str("/path1"), str("/path2"), str("/path3")},
			"3499FD5198AE0F1EB6B77F6E428D2FF0" + "27A1848BD1102A3B65AFF266874D0FF5" +
				"2CA5ABC953544CF9BD94776DA5E6EA52"},
		{"none", HashV2, true, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := formatEPK(EffectivePartitionKey(nil, c.version, c.multi, c.values)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The 32-bit hashes of whole values in the .NET SDK's PartitionKeyHashBaselineTest.
func TestMurmur32(t *testing.T) {
	for _, c := range []struct {
		name  string
		value doc.Value
		want  uint32
	}{
		{"undefined", undefined, 0x514E28B7},
		{"null", null, 0xE45AD1AB},
		{"true", yes, 0x5E2A8076},
		{"false", no, 0x6C27D09F},
		{"0", doc.Int(0), 0x1EDA80A6},
		{"-0.0", doc.Double(math.Copysign(0, -1)), 0xB03DA650},
		{"1", doc.Int(1), 0xE1655A93},
		{"-1", doc.Int(-1), 0x452BDBE7},
		{"smallest double above 0", doc.Double(math.SmallestNonzeroFloat64), 0xAC83D318},
		{"NaN", doc.Double(math.NaN()), 0xAF04DA37},
		{"infinity", doc.Double(math.Inf(1)), 0xD2F84F93},
		{"empty string", str(""), 0x3CCCB0FF},
		{"asdf", str("asdf"), 0xB02BABC2},
		{"99 bytes", str(strings.Repeat("a", 99)), 0xCCC122D9},
		{"100 bytes", str(strings.Repeat("a", 100)), 0xD5843D83},
		{"101 bytes", str(strings.Repeat("a", 101)), 0x3B1B5D8D},
		{"/path1", str("/path1"), 0xA6C6298A},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := murmur32(componentOf(c.value).appendHashed(nil, 0)); got != c.want {
				t.Errorf("got %08X, want %08X", got, c.want)
			}
		})
	}
}

func ExampleEffectivePartitionKey() {
	epk := EffectivePartitionKey(nil, HashV2, false, []doc.Value{str("redmond")})
	fmt.Printf("%X\n", epk)
	// Output: 22E342F38A486A088463DFF7838A5963
}
