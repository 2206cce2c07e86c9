package analyze

// commonWords are the commonest words of each language, as they are written: those that tell nothing of
// what a text is about, but tell what language it is in.
var commonWords = [languages]string{
	English: `
a about above after again against all also am an and any are as at be because been before being below
between both but by can cannot could did do does doing down during each few for from further had has have
having he her here hers herself him himself his how i if in into is it its itself just me more most my
myself no nor not now of off on once only or other our ours ourselves out over own same she should so some
such than that the their theirs them themselves then there these they this those through to too under until
up us very was we were what when where which while who whom why will with would you your yours yourself
yourselves
`,
	Greek: `
αλλά αν αντί από αυτά αυτές αυτή αυτήν αυτής αυτό αυτοί αυτός αυτού αυτούς αυτών για δε δεν εγώ εδώ εκεί
εκείνα εκείνες εκείνη εκείνο εκείνοι εκείνος εμείς ενώ επί εσείς εσύ έχει έχουν ή η ήταν θα και κάθε κατά
κι λοιπόν μα με μετά μέχρι μη μην μία μια μου μας να ο οι όμως όπου όπως όσο όταν ότι ούτε όχι παρά ποια
ποιες ποιο ποιοι ποιος που πού προς πρέπει πριν πως πώς σαν σας σε στα στη στην στις στο στον στους σου τα
τη την της τι τις το τον του τους των χωρίς ως ώστε είμαι είναι είσαι είμαστε είστε ένα ένας έναν
`,
	German: `
aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bis bin bist da damit
dann das dass dein dem den denn der des deshalb die dies diese diesem diesen dieser dieses doch dort durch ein eine einem
einen einer eines einige er es etwas euch für gegen gibt haben habe hat hatte hatten hier ich ihm ihn ihnen
ihr ihre ihrem ihren ihrer im immer in ins ist ja jede jedem jeden jeder jedes jedoch jetzt kann kein keine keinen
können könnte man mehr mein meine mit muss müssen nach nicht nichts noch nun nur ob oder ohne sehr sein
seine seinem seinen seiner seit sich sie sind so soll sollte sollten sondern über um und uns unser unter viele vom von
vor war waren was weil welche welcher wenn werden wer wie wieder will wir wird wo wurde wurden zu zum zur
zwischen
`,
	French: `
à afin ai ainsi alors après au aucun aucune aussi autre autres aux avant avec avez avoir avons c ce ceci cela celle
celui ces cet cette ceux chaque comme comment d dans de depuis des deux devez doit doivent donc dont du elle
elles en encore entre est et étaient était être eux fait faire faut il ils j je jusqu l la le les leur leurs
lorsque lui m ma mais même mes moins mon n ne ni non nos notre nous on ont ou où par parce pas pendant peu
peut peuvent plus plusieurs pour pouvez pourquoi puis qu quand que quel quelle quelques qui quoi s sa sans
se sera ses si son sont sous suis sur ta tandis te tous tout toute toutes très tu un une vers vos votre vous y
`,
	Spanish: `
a además al algo alguna algunas alguno algunos ante antes así aún aunque bajo cada como cómo con contra
cual cualquier cuando cuándo de debe deben del desde después donde dos durante e el él ella ellas ellos en
entonces entre era eran es esa esas ese eso esos está están esta estaba estas este esto estos fue fueron
ha había han hasta hay la las le les lo los más me mi mientras muchas mucho muchos muy nada ni no nos nosotros
nuestra nuestro o os otra otras otro otros para pero por porque puede pueden pues que qué quien se sea según ser si sí sido
siempre sin sino sobre son su sus también tan tanto te tiene tienen toda todas todo todos tras tu tus un
una unas uno unos usted y ya yo
`,
	Italian: `
a abbiamo ad agli ai al alcune alcuni all alla alle allo altra altre altri altro anche ancora avere aveva c
che chi ci ciò come con contro così cui d da dagli dai dal dall dalla dalle dallo degli dei del dell della
delle dello deve devono di dopo dove due e è ed era erano essere fare fino fra già gli ha hanno ho i il in
io l la le lei lo loro lui ma me mentre mi mia molto ne negli nei nel nell nella nelle nello noi non nostra
nostro o ogni oppure per perché però più poi possono prima può qualche quale quali quando quanto quella quelle quelli quello
questa queste questi questo qui quindi se sé sempre senza si sia solo sono sopra sotto stata stati stato su
sua sue sugli sui sul sull sulla sulle suo suoi tra tutta tutte tutti tutto un una uno v vi viene vengono
`,
	Portuguese: `
a à algum alguma algumas alguns além ainda ao aos apenas após aquela aquele aqueles aquilo as às assim até cada com como contra
da das de dela dele deles depois desde dessa desse desta deste deve devem disso do dos durante e é ela elas ele eles em
enquanto entre era eram essa essas esse esses esta está estão estar estas estava este estes estes eu foi foram
há isso isto já lhe lo mais mas me mesma mesmo meu minha muito muitos na não nas nem nessa nesse nesta neste no nos nós nossa
nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos pode podem por porque porém pois qual
qualquer quando que quem são se seja sem sempre ser será seu seus si sido só sobre sua suas também tem têm ter
todas todos tudo um uma umas uns você vocês
`,
	Dutch: `
aan af al alle alleen als altijd andere ben bij binnen daar daarom dan dat de deze die dit dus door een eens
elk elke en enkele er geen had hadden hebben hebt heeft hem hen het hier hij hoe hun ik in indien is
ja je jij jouw jullie kan kon kunnen kunt maar mag me meer men met mij mijn moet moeten na naar niet niets nog nu of om
omdat onder ons onze ook op over per sinds te tegen ten ter terwijl toch toen tot tussen u uit uw van veel
via volgens voor vooral waar waarbij waarom wanneer waren was wat we wel welke werd werden weer wie wij wil worden wordt
zal zelf zich zij zijn zo zoals zonder zou zouden
`,
	Russian: `
а без более бы был была были было быть в вам вами вас весь во вот все всего всех вы где да даже для до его
ее если есть еще же за здесь и из или им их к как какой когда который которая которое которые которого которых
кто ли лишь либо мне может можно могут мой мы на над надо нам нас наш не него нее некоторые нет ни них но ну
о об один однако он она они оно от очень по под после потому при про раз с сам свой себя сейчас со
так также такие такой там те тем то того тоже той только том тот ты у уже хотя чего чем через что чтобы
эта эти этих это этого этой этом этот я
`,
}
