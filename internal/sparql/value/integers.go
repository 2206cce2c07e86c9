package value

import "math"

// bounds are the least and the greatest number of a type of integers.
type bounds struct {
	least, greatest         int64
	hasLeast, hasGreatest   bool
	greatestIsUnsigned64bit bool
}

// integers are the types that are derived from xsd:integer.
var integers = map[string]bounds{
	"nonPositiveInteger": {greatest: 0, hasGreatest: true},
	"negativeInteger":    {greatest: -1, hasGreatest: true},
	"nonNegativeInteger": {least: 0, hasLeast: true},
	"positiveInteger":    {least: 1, hasLeast: true},
	"long":               {math.MinInt64, math.MaxInt64, true, true, false},
	"int":                {math.MinInt32, math.MaxInt32, true, true, false},
	"short":              {math.MinInt16, math.MaxInt16, true, true, false},
	"byte":               {math.MinInt8, math.MaxInt8, true, true, false},
	"unsignedLong":       {least: 0, hasLeast: true, greatestIsUnsigned64bit: true},
	"unsignedInt":        {0, math.MaxUint32, true, true, false},
	"unsignedShort":      {0, math.MaxUint16, true, true, false},
	"unsignedByte":       {0, math.MaxUint8, true, true, false},
}

func (b bounds) hold(n number) bool {
	if n.big != nil { // beyond an int64
		negative := n.big.Sign() < 0
		return !(negative && b.hasLeast || !negative && b.hasGreatest) &&
			!(b.greatestIsUnsigned64bit && !n.big.IsUint64())
	}
	return !(b.hasLeast && n.n < b.least) && !(b.hasGreatest && n.n > b.greatest)
}
