package expression

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/recordjson"
)

func TestNumbersOfRecords(t *testing.T) {
	t.Parallel()
	var record pipeline.Record
	if err := recordjson.Unmarshal([]byte(`{"id":2882429806056571124,"next":2882429806056571125,"large":18446744073709551615,"larger":18446744073709551616,
		"price":1.10,"unit":1.0,"small":7,"half":0.5,"most":9223372036854775807,"least":-9223372036854775808,"pi":3.14159265358979323846,
		"list":[1.0,1,2882429806056571124,1.10,3],"items":[{"n":1.0},{"n":1e0},{"n":2.50}],"text":"1.10"}`), &record); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		// what is passed on is as it was written
		`id`: `2882429806056571124`, `price`: `1.10`, `{"id": id, "p": [price, pi]}`: `{"id":2882429806056571124,"p":[1.10,3.14159265358979323846]}`, `missing ?? price`: `1.10`,
		`small > 5 ? unit : 0`: `1.0`, `let x = large; x`: `18446744073709551615`, `filter(list, # > 1)`: `[2882429806056571124,1.10,3]`, `list[0]`: `1.0`, `first(list)`: `1.0`,
		`map(items, .n)`: `[1.0,1e0,2.50]`, `toJSON(price)`: `"1.10"`, `string(id)`: `"2882429806056571124"`, `string(price)`: `"1.10"`, `string(12345678.0)`: `"12345678"`, `string(small)`: `"7"`,
		`fromJSON("{\"a\":1.10}").a`: `1.10`, `join([id, price], ",")`: `"2882429806056571124,1.10"`, `uniq(list)`: `[1.0,2882429806056571124,1.10,3]`, `uniq(split("a,b,a", ","))`: `["a","b"]`,
		`find(list, # > 2)`: `2882429806056571124`, `reverse(list)[0]`: `3`, `value.price`: `1.10`,
		// comparisons are exact
		`id == next`: `false`, `id < next`: `true`, `id != next`: `true`, `large < larger`: `true`, `large == larger`: `false`, `large >= larger`: `false`, `id == 2882429806056571124`: `true`,
		`id == 2882429806056571125`: `false`, `unit == 1`: `true`, `1 == unit`: `true`, `price == 1.1`: `true`, `price > 1.1`: `false`, `price >= 1.1`: `true`, `text == price`: `false`, `unit in [1, 2]`: `true`, `id in list`: `true`, `next in list`: `false`,
		`next not in list`: `true`, `price in [1.1]`: `true`, `small in 1..10`: `true`, `text in ["1.10"]`: `true`, `[unit, 2] == [1, 2]`: `true`, `{"a": unit} == {"a": 1}`: `true`, `unit == nil`: `false`, `missing == nil`: `true`,
		`any(items, .n == 1)`: `true`, `count(items, .n < 2)`: `2`,
		// arithmetic is exact as long as whole numbers fit
		`id + 1`: `2882429806056571125`, `id - small`: `2882429806056571117`, `next - id`: `1`, `id % 1000`: `124`, `small % 2`: `1`, `unit + 1`: `2`, `small * 2`: `14`, `small / 2`: `3.5`, `-id`: `-2882429806056571124`,
		`most + 1`: `9223372036854776000`, `least - 1`: `-9223372036854776000`, `most * 2`: `18446744073709552000`, `most + small`: `9223372036854776000`, `least * -1`: `9223372036854776000`, `id * unit`: `2882429806056571124`,
		`price * 2`: `2.2`, `price + half`: `1.6`, `unit ** 2`: `1`, `large + 1`: `18446744073709552000`, `text + "!"`: `"1.10!"`,
		// so are functions
		`int(price)`: `1`, `int(id)`: `2882429806056571124`, `float(unit)`: `1`, `abs(price)`: `1.1`, `round(price)`: `1`, `max(unit, small)`: `7`, `min(list)`: `1`, `max(list)`: `2882429806056571124`, `sum(map(items, .n))`: `4.5`, `sum(items, .n)`: `4.5`,
		`mean([unit, 2])`: `1.5`, `median([unit, 2, 3])`: `2`, `sort([price, unit])`: `[1,1.1]`, `sortBy(items, .n)[0].n`: `1.0`, `keys(groupBy(items, .n)) | len()`: `2`, `list[unit]`: `1`, `list[unit:]`: `[1,2882429806056571124,1.10,3]`, `take(list, unit)`: `[1.0]`,
		`type(price)`: `"float"`, `type(id)`: `"int"`, `1..unit`: `[1]`, `reduce([1, unit], #acc + #, 0)`: `2`, `get(list, unit)`: `1`,
	} {
		p, err := Compile(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		v, err := p.Value(record, nil)
		got, _ := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("%s is %s, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{`id % 0`, `price + text`, `price > text`, `upper(price)`, `price contains "1"`} {
		p, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := p.Value(record, nil); err == nil {
			t.Errorf("%s is %v", text, v)
		}
	}
}

// Ordinary numbers stay what they were: a float64.
func TestArithmeticWithOrdinaryNumbersOfRecords(t *testing.T) {
	t.Parallel()
	record := pipeline.Record{"a": 5.0, "b": 2.0, "n": 3}
	for text, want := range map[string]any{`a + b`: 7.0, `a - 1`: 4.0, `a * b`: 10.0, `a / b`: 2.5, `n + 1`: 4, `a % b`: 1} {
		p, err := Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := p.Value(record, nil); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %#v, %v", text, got, err)
		}
	}
}

func TestKeysOfNumbers(t *testing.T) {
	t.Parallel()
	key := func(text, json string) string {
		var v any
		k, err := CompileKey(text)
		if err == nil {
			err = recordjson.Unmarshal([]byte(json), &v)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.Of(&pipeline.Item{Value: v})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, same := range [][]string{{`{"k":1}`, `{"k":1.0}`, `{"k":1e0}`}, {`{"k":[1,{"a":2.50}]}`, `{"k":[1.0,{"a":2.5}]}`}, {`{"k":0}`, `{"k":-0}`}} {
		for _, text := range same {
			if got, want := key("k", text), key("k", same[0]); got != want {
				t.Errorf("%s has the key %s, and %s %s", text, got, same[0], want)
			}
		}
	}
	if got := key("k", `{"k":12345678.5}`); got != "12345678.5" {
		t.Errorf("a key as before is %s now", got)
	}
	if a, b := key("k", `{"k":2882429806056571124}`), key("k", `{"k":2882429806056571125}`); a == b {
		t.Errorf("two ids are one key, %s", a)
	}
}
