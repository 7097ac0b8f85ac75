package keys

import "math/big"

// numberBits is how many bits of a document number count the documents of its range. The range is above them.
const numberBits = 48

// MaxCount is the highest count of documents, and of writes, that a number or a place in an order can hold.
const MaxCount = 1<<numberBits - 1

// MaxRanges is how many ranges a container can have in its life. Resource ids keep 60 bits of a document number, and
// the numbers of one range more stand for documents that have none yet.
const MaxRanges = 1<<(60-numberBits) - 1

// NumberOf is the number of the document that is the count-th of its range. In range 0 it is the count.
func NumberOf(rng uint16, count uint64) uint64 { return uint64(rng)<<numberBits | count&MaxCount }

// RangeOfNumber is the range of the document with that number.
func RangeOfNumber(number uint64) uint16 { return uint16(number >> numberBits) }

// CountOfNumber is what NumberOf got as count.
func CountOfNumber(number uint64) uint64 { return number & MaxCount }

// EPKEnd is above every effective partition key: where the last range of a container ends.
var EPKEnd = []byte{0xFF}

// EPKBound is the lower bound of the i-th of n equal parts of the space of effective partition keys; i is between 0
// and n. The space of version 2 hashes, and so of hierarchical keys, has 126 bits; that of version 1 is the number with
// which its keys begin, of 32 bits. The service cuts both in the same way, one below the even value: accounts list
// bounds such as 05C1DFFFFFFFFC and 1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF for halves (Azure/azure-sdk-for-js:
// sdk/cosmosdb/cosmos/test, the partition key ranges of its mocks).
func EPKBound(version PartitionVersion, multi bool, i, n int) []byte {
	switch i {
	case 0:
		return nil
	case n:
		return EPKEnd
	}
	if version >= HashV2 || multi {
		bound := make([]byte, hashBytes)
		return evenly(8*hashBytes-2, i, n).FillBytes(bound)
	}
	f, _ := evenly(32, i, n).Float64()
	return component{mark: markNumber, f: f}.appendV1(nil)
}

// evenly is the last number of the first i of n parts of a space of so many bits.
func evenly(bits uint, i, n int) *big.Int {
	x := new(big.Int).Lsh(big.NewInt(int64(i)), bits)
	x.Quo(x, big.NewInt(int64(n)))
	return x.Sub(x, big.NewInt(1))
}
