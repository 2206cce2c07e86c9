package amount

import "strings"

// codes are those of ISO 4217 that pages commonly show, which have case: "all" is no lek.
var codes = set(`AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HRK HUF IDR ILS INR ISK JPY KES KRW MAD MXN MYR
	NGN NOK NZD PEN PHP PKR PLN RMB RON RSD RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR`)

// names are what currencies are called, and shortened to, in lower case.
var names = set(`euro euros ευρώ ευρω евро dollar dollars dólar dólares dollaro dollari δολάρια pound pounds sterling franken
	francs franc sfr fr kr krone kroner kronor kronur zł zlotych złotych kč korun ft forint лв lei leu yen yuan 円 元 圆 圓 원
	rupee rupees rs руб рублей рубль грн гривен real reais peso pesos tl lira liras won`)

func set(words string) map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}
