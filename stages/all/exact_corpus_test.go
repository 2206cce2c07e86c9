package all

// specimen is a value that programs like to change.
type specimen struct {
	json    string // of the value, as it is sent; empty: the field is missing
	name    string // of the field; empty: "v"
	counted string // the counter of it, where it cannot be kept
	left    string // the value, as JSON, that is there instead; empty: the record is left out
}

// specimens are numbers and texts as others have met them. What is counted is so by the names that read-file gives it.
var specimens = []specimen{
	// whole numbers
	{json: `0`}, {json: `-0`}, {json: `1`}, {json: `-1`}, {json: `999999999999999`}, {json: `9007199254740991`}, {json: `9007199254740992`}, {json: `9007199254740993`},
	{json: `-9007199254740993`}, {json: `2882429806056571124`}, {json: `2882429806056571125`}, {json: `9223372036854775807`}, {json: `-9223372036854775808`},
	{json: `9223372036854775808`}, {json: `18446744073709551615`}, {json: `18446744073709551616`}, {json: `123456789012345678901234567890`}, {json: `1000000000000000000000`},
	// decimals
	{json: `0.1`}, {json: `1.10`}, {json: `1.0`}, {json: `-0.0`}, {json: `0.30000000000000004`}, {json: `12345678901234.56`}, {json: `0.12345678901234567890`}, {json: `99999999999999999999.99`},
	{json: `3.141592653589793238462643`}, {json: `0.000001`}, {json: `0.0000001`}, {json: `100.00`},
	// exponents
	{json: `1e0`}, {json: `1E3`}, {json: `1e-7`}, {json: `1e+21`}, {json: `1.7976931348623157e308`}, {json: `5e-324`}, {json: `0e400`},
	{json: `1e309`, counted: "bad_records"}, {json: `1E400`, counted: "bad_records"}, {json: `-1e999`, counted: "bad_records"}, {json: `1e-999`, counted: "bad_records"},
	// numbers within values
	{json: `[2882429806056571124,1.10,{"a":[1.0,18446744073709551615]}]`}, {json: `{"b":{"c":9007199254740993},"a":1.50}`},
	// texts
	{json: `""`}, {json: `" "`}, {json: `"a\nb"`}, {json: `"a\r\nb"`}, {json: `"\t"`}, {json: `"say \"a\", 'b'"`}, {json: `"a,b;c"`}, {json: `"\\n"`}, {json: `"a\u0000b"`}, {json: `"\u001b[31m"`},
	{json: `"\ufeffa"`}, {json: `"a\u2028b\u2029c"`}, {json: `"\ud834\udd1e"`}, {json: "\"e\u0301 \u00e9\""}, {json: `"\u202eabc"`}, {json: `"<&>\u007f\u0085"`}, {json: `"2882429806056571124"`}, {json: `"1.10"`},
	{json: `"true"`}, {json: `"null"`}, {json: `"=1+1"`}, {json: `"\ufffd"`}, {json: `"007"`},
	{json: `"a\ud834b"`, counted: "invalid_text", left: `"a\ufffdb"`}, {json: `"\udd1e\ud834"`, counted: "invalid_text", left: `"\ufffd\ufffd"`}, {json: "\"a\xffb\"", counted: "invalid_text", left: `"a\ufffdb"`},
	// others
	{json: `null`}, {json: `true`}, {json: `false`}, {json: `[]`}, {json: `{}`}, {json: ``},
	{json: `{"a":1,"a":2}`, counted: "duplicate_names", left: `{"a":2}`},
	// names
	{json: `1.10`, name: "a.b"}, {json: `1.10`, name: "unit price"}, {json: `1.10`, name: "ü\U0001d11e"}, {json: `1.10`, name: "'\",;"}, {json: `1.10`, name: "$env"},
}
