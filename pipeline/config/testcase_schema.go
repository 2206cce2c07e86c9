package config

// testsSchema describes [[test]]. The fields of items are those of their kinds, and any key will do.
func testsSchema() object {
	text := func(doc string) object { return described(object{"type": "string"}, doc) }
	fields := func(doc string) object { return described(object{"type": "object"}, doc) }
	item := object{"type": "object", "required": []string{"stage"}, "properties": object{
		"stage":     text("the stage that is given it"),
		"kind":      text("what it is; the first kind that the stage takes where it is left out"),
		"body":      text("its body"),
		"body_file": text("a file, beside this one, with its body"),
	}}
	answer := object{"type": "object", "properties": object{
		"when":      fields("fields of the items that are answered; all of them where it is left out"),
		"port":      text("the output port that the answer leaves; the default port where it is left out"),
		"drop":      described(object{"type": "boolean"}, "make nothing of these items"),
		"kind":      text("what the answer is; what the port carries where it is left out"),
		"body":      text("its body"),
		"body_file": text("a file, beside this one, with its body"),
	}}
	expectation := table(object{
		"from":     text("the stage, or STAGE.PORT, that the items leave"),
		"count":    described(object{"type": "integer"}, "how many there are; at least one where it is left out"),
		"item":     described(object{"type": "integer"}, "which of them the rest is about, from 1; all where it is left out"),
		"where":    text("an expression: which items are meant"),
		"that":     text("an expression that is true of them"),
		"equals":   fields("fields that have these values"),
		"contains": fields("fields that have this text, or lists that have this element"),
		"matches":  fields("fields that match a regular expression"),
		"xpath":    fields("what XPath expressions select in them"),
	}, "from")
	list := func(items object) object { return object{"type": "array", "items": items} }
	return described(list(table(object{
		"name":     text("what must hold"),
		"pipeline": text("the pipeline that it holds of"),
		"run":      text(`the stages to run, as a flow: "a > b"; the whole pipeline where it is left out`),
		"set":      described(oneOrMore(), "overrides of options: STAGE.OPTION=VALUE"),
		"given":    fields("what the stores hold before: urds, documents"),
		"in":       described(list(item), "items that stages are given"),
		"fixture":  described(object{"type": "object", "additionalProperties": list(answer)}, "what stands in for stages"),
		"expect":   described(list(expectation), "what is to leave ports"),
	}, "name", "pipeline", "expect")), "tests of the pipelines; webrace-run test runs them")
}
