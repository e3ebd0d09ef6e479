"""Everyday words that mean the same in the tables of offices, shops, schools and clubs, in English and Slovene.

Written from ordinary vocabulary, and not from the tables of the tests. A line holds for the name of a column and for a
value of a list alike: where one of them has one of the words, people may say it by the others. They are data: to teach
the box a word, add it to its line.
"""

from __future__ import annotations

CONCEPTS = (
    # health
    "gp|doctor|doctors|physician|family doctor|zdravnik|zdravniki|zdravnica|osebni zdravnik|družinski zdravnik|dohtar",
    "dentist|dental|tooth|teeth|zobna|zobar|zobarju|zobarka|zobozdravnik|zobozdravnica|zobje|zob",
    "surgery|operation|operations|operated|operated on|operacija|operacije|operiran|kirurgija|kirurg",
    "vaccination|vaccinations|vaccine|vaccines|jab|jabs|shots|immunisation|inoculation|cepljenje|cepljenja|cepivo"
    "|cepljen|cepit",
    "check up|checkup|checkups|check ups|routine check|examination|control|kontrola|kontrole|kontrolni"
    "|kontrolni pregled",
    "injury|injuries|injured|wound|wounds|hurt|poškodba|poškodbe|poškodovan|poškodovani|rana",
    "pain|pains|ache|aches|sore|bolečina|bolečine|bolečin|boli|bolelo",
    "cold|flu|influenza|prehlad|prehlajen|prehlajeni|gripa|viroza",
    "prescription|prescriptions|medicine|medicines|medication|drugs|pills|recept|recepti|recepte|zdravilo|zdravila",
    "illness|ill|sick|unwell|sickness|disease|bolezen|bolezni|bolan|bolni|zbolel|zboleli|obolel",
    "emergency|emergencies|a e|er|urgenca|urgenci|nujna|nujna pomoč",
    "physiotherapy|physio|physiotherapist|fizioterapija|fizioterapevt|fizioterapevtka|fizio",
    "gynaecology|gynecology|gynaecologist|ginekologija|ginekološka|ginekolog|ginekologinja",
    "general|general practice|splošna|splošni zdravnik",
    "allergy|allergies|allergic|alergija|alergije|alergik|alergični|alergičen",
    "fever|temperature|vročina|temperatura|vročino",
    "referral|referred|napotnica|napotnico|napoten|napoteni|napotitev",
    "mental health|depression|anxiety|duševno zdravje|depresija",
    "pregnant|pregnancy|expecting|noseča|noseče|nosečnost|nosečnica|nosečnice",
    "disability|disabled|handicap|handicapped|wheelchair|invalidnost|invalid|invalidi|gibalno oviran|voziček",
    "neutered|spayed|castrated|kastriran|sterilizirana|steriliziran",
    "chipped|microchipped|microchip|čip|čipiran",
    "filling|fillings|zalivka|plomba|zalivke|plombe",
    "extraction|extractions|pulled|removal|izdrtje|ekstrakcija|puljenje",
    # work
    "full time|full timer|full timers|polni delovni čas|poln delovni čas|redni delovni čas",
    "part time|part timer|part timers|polovični delovni čas|skrajšan delovni čas|krajši delovni čas",
    "manager|managers|boss|bosses|head|heads|supervisor|vodja|vodje|šef|šefi|direktor|direktorji|menedžer",
    "clerk|clerks|office worker|office workers|admin|administration|administrative|uradnik|uradniki|administracija"
    "|administrator|tajništvo|referent",
    "volunteer|volunteers|voluntary|unpaid helper|prostovoljec|prostovoljci|prostovoljno|prostovoljstvo",
    "hr|human resources|personnel|kadri|kadrovska služba|kadrovski",
    "finance|finances|financial|finančni|finance in računovodstvo|računovodstvo",
    "self employed|freelance|freelancer|freelancers|samozaposlen|samostojni podjetnik|espe",
    "job loss|lost their job|lost job|lost my job|lost his job|lost her job|redundancy|redundant|laid off"
    "|made redundant"
    "|izguba službe|izguba zaposlitve|izgubil službo|izgubili službo|odpuščen|odpuščeni",
    "left|quit|resigned|resignation|gave notice|odšel|odšli|odpovedal|dal odpoved",
    "training|course|courses|seminar|seminars|workshop|workshops|tečaj|tečaji|delavnica|delavnice|usposabljanje"
    "|izobraževanje",
    "qualification|certificate|certificates|diploma|certified|potrdilo|potrdila|spričevalo|certifikat|diplomo",
    # learning
    "teacher|teachers|tutor|tutors|instructor|instructors|trainer|trainers|coach|coaches|lecturer|mentor|učitelj"
    "|učitelji|učiteljica|profesor|profesorica|inštruktor|inštruktorji|inštruktorica|trener|trenerji|predavatelj"
    "|vaditelj|vaditeljica|voditelj tečaja",
    "attendance|attend|attends|attended|presence|present|turnout|prisotnost|prisoten|prisotni|prisotna|udeležba"
    "|obisk|obiskanost|navzočnost",
    "test|tests|exam|exams|examination|quiz|izpit|izpiti|test znanja|preizkus|preverjanje",
    "theory|theory test|cpp|teorija|teoretični|teoretični del",
    "beginner|beginners|novice|novices|starter|starters|začetnik|začetniki|začetni|začetna|začetnica",
    "intermediate|medium|middle|srednji|nadaljevalni|nadaljevalna|nadaljevalci",
    "advanced|expert|experts|izkušen|izkušeni|napredni|napreden|izpopolnjevalni",
    "english|angleščina|angleški|angleško|angleške|anglešč",
    "french|francoščina|francoski|francosko|francoske",
    "italian|italijanščina|italijanski|italijansko|italijanske",
    "spanish|španščina|španski|špansko|španske",
    "german|nemščina|nemški|nemško|nemške",
    "russian|ruščina|ruski|rusko",
    "slovene|slovenian|slovenščina|slovenski|slovensko",
    "maths|math|mathematics|matematika|matematiki|matematiko|matka",
    "physics|fizika|fiziki",
    "chemistry|kemija|kemiji",
    "history|zgodovina|zgodovini",
    "science|sciences|naravoslovje|znanost",
    "law|legal|pravo|pravna fakulteta",
    "undergraduate|undergraduates|undergrad|undergrads|bachelor|dodiplomski|dodiplomci",
    "postgraduate|postgraduates|postgrad|postgrads|master|masters|podiplomski|magistrski",
    "phd|phds|doctoral|doctorate|doktorat|doktorski|doktorand|doktorandi",
    "level|levels|stage|raven|stopnja|nivo",
    "homework|assignment|assignments|domača naloga|naloga|naloge",
    "scholarship|grant|bursary|štipendija|štipendije|štipendist|štipendisti|štipendijo",
    # getting about
    "train|trains|rail|railway|vlak|vlaki|vlakom|železnica",
    "bus|buses|coach|coaches|avtobus|avtobusi|avtobusom|bus",
    "plane|planes|air|flight|flights|fly|flew|letalo|letalom|letala|let",
    "boat|boats|ferry|ship|ships|ladja|ladjo|trajekt|čoln|čolni",
    "motorcycle|motorcycles|motorbike|motorbikes|moped|mopeds|scooter|motor|motorno kolo|motoristi|motorist|moped"
    "|skuter",
    "taxi|cab|cabs|taksi|taksijem",
    "lorry|lorries|truck|trucks|tovornjak|tovornjaki|kamion|tovorno vozilo",
    "van|vans|kombi|kombiji|dostavno vozilo",
    "tram|trams|tramway|tramvaj",
    "electric|ev|evs|electrically|električni|električno|električna|na elektriko|elektrika",
    "petrol|gasoline|gas|bencin|bencinski|bencinsko|na bencin",
    "diesel|dizel|dizelski|dizelsko|na dizel",
    "automatic|automatics|avtomatik|avtomatski|avtomatsko",
    "manual|manuals|stick shift|ročni|ročno|ročni menjalnik",
    "tyre|tyres|tire|tires|wheels|guma|gume|pnevmatika|pnevmatike",
    "brakes|brake|braking|zavore|zavora|zavor",
    "crash|crashes|collision|accident|accidents|trčenje|nesreča|nesreče|karambol",
    "route|routes|line|lines|linija|linije|proga|proge|relacija",
    "fare|ticket price|vozovnica|vozovnice|karta|cena vozovnice",
    # homes
    "owner|owners|own|owned|homeowner|homeowners|lastnik|lastniki|lastništvo|lastniško|lasten|v lasti",
    "rent|rents|rented|renting|renter|renters|tenant|tenants|najem|najemnik|najemniki|najeto|najemno|v najemu",
    "no fixed address|homeless|homelessness|rough sleeper|rough sleepers|without a home|no home|nowhere to live"
    "|brezdomec|brezdomci|brezdomen|brez doma|brez strehe",
    "flat|flats|apartment|apartments|stanovanje|stanovanja|stanovanj|blok|bloki|v bloku",
    "house|houses|hiša|hiše|hiš|hišah",
    "heating|heat|heated|heats|ogrevanje|ogrevajo|ogreva|kurjava|gretje|grejejo",
    "wood|firewood|logs|drva|les|lesom|na drva|polena",
    "oil|olje|kurilno olje|na olje",
    "natural gas|gas|plin|na plin|zemeljski plin|plinom",
    "heat pump|heat pumps|toplotna črpalka|toplotne črpalke|toplotno črpalko",
    "solar|solar panels|photovoltaic|pv|sončna elektrarna|sončna energija|sončne celice|sončni paneli",
    # paying
    "cash|gotovina|gotovini|gotovino|keš|z denarjem",
    "direct debit|standing order|trajnik|trajni nalog|direktna bremenitev|trajnikom",
    "invoice|invoiced|invoices|billed|račun|po računu|računom",
    "payment slip|giro|položnica|položnice|položnico|upn",
    "e invoice|e invoices|electronic invoice|e račun|eračun|elektronski račun",
    "refund|refunds|refunded|money back|vračilo denarja|vračilo|vrnjen denar|vrnili denar|povračilo",
    "discount|discounts|reduced|reduction|concession|popust|popusti|znižanje|znižan|s popustom",
    "voucher|vouchers|coupon|coupons|gift card|bon|boni|kupon|darilni bon",
    "free|free of charge|gratis|brezplačen|brezplačno|zastonj",
    "deposit|deposits|down payment|kavcija|varščina|polog|ara",
    "tip|tips|gratuity|napitnina|napitnine",
    "fine|fines|penalty|penalties|globa|globe|kazen|kazni|denarna kazen",
    "late fee|overdue fee|zamudnina|zamudnine",
    "debt|debts|in debt|owe|owes|owed|owing|owe money|arrears|dolg|dolgovi|dolgujejo|dolguje|zadolžen|zadolženi"
    "|dolžan|dolžni",
    "low income|poor|poverty|little money|not enough money|nizek dohodek|reven|revni|revščina|nizki dohodki",
    "benefit|benefits|welfare|socialna pomoč|socialni transfer|denarna pomoč",
    "subscription|subscriptions|naročnina|naročnine",
    "charge|charged|charges|cost|costs|fee|fees|price|strošek|stroški|cena|zaračunali|zaračunano|zaračunan|stane|stalo",
    # ways of asking, telling, ordering
    "online|web|website|internet|on the web|over the internet|splet|spletno|na spletu|prek spleta|po spletu|internetno"
    "|preko interneta|spletna stran|elektronsko",
    "phone|telephone|by phone|on the phone|over the phone|rang|telefon|telefonsko|telefonu|poklical|poklicali",
    "email|e mail|mail|by email|emailed|e pošta|epošta|mail|mejl|po e pošti|elektronska pošta|po mailu|po mejlu",
    "post|letter|letters|by post|by mail|pošta|pismo|po pošti|pisno|navadna pošta",
    "in person|face to face|at the counter|at the desk|counter|walk in|walk ins|walked in|osebno|osebni obisk|v živo"
    "|na okencu|okence|na licu mesta",
    "app|mobile app|application|aplikacija|aplikacije|prek aplikacije|mobilna aplikacija|po aplikaciji",
    "remote|remotely|distance|online|zoom|na daljavo|prek spleta|od doma|preko zooma",
    "hybrid|mixed|combined|hibridno|hibridni|kombinirano|kombinirani|kombiniran|mešano",
    "digital|electronic|e edition|digitalni|digitalno|elektronski|elektronsko|e izdaja|spletni",
    "printed|print|paper|on paper|tiskani|tiskan|tiskano|papirni|na papirju|tiskana izdaja",
    "weekend|weekends|vikend|vikendi|vikendih|sobota in nedelja",
    "agent|agency|broker|zastopnik|posrednik|agencija",
    "friend|friends|word of mouth|recommendation|recommended by|prijatelj|prijatelji|priporočilo|znanci|od znancev",
    "advert|adverts|ad|ads|advertisement|advertising|oglas|oglasi|reklama|oglaševanje",
    "social media|facebook|instagram|social networks|družbena omrežja|družabna omrežja|fejsbuk",
    "newspaper|newspapers|press|časopis|časopisi|časnik|cajteng",
    "poster|posters|leaflet|leaflets|flyer|flyers|plakat|letak|letaki",
    "self|himself|herself|themselves|myself|oneself|by themselves|on their own initiative|sam|sama|sami|same"
    "|samoplačnik"
    "|samoplačniki|zase",
    "company|companies|firm|firms|business|businesses|corporate|employer|podjetje|podjetja|podjetij|firma|firme|firm"
    "|delodajalec|delodajalci|poslovni",
    "private|privately|private individual|individual|individuals|zasebni|zaseben|zasebno|zasebnik|fizična oseba"
    "|fizične osebe|privat|privatno|posameznik",
    "council|local authority|municipality|town hall|občina|občine|občinski|občinsko",
    "public|state|government|national|javni|javno|državni|državno|država",
    "charity|charities|ngo|non profit|nonprofit|društvo|društva|dobrodelna organizacija|nevladna organizacija",
    "employment office|job centre|jobcentre|zavod za zaposlovanje|zavod|borza dela|na zavodu",
    "tourist|tourists|holidaymaker|holidaymakers|turist|turisti|turistov|letoviščar",
    "local|locals|resident|residents|domačin|domačini|krajan|krajani|lokalni",
    "family|families|relatives|družina|družine|družinski|sorodniki|svojci",
    "wedding|weddings|poroka|poroke|svatba",
    "birthday|birthdays|rojstni dan|rojstnodnevna zabava",
    # how it stands or how it ended
    "pending|in progress|being processed|under review|ongoing|in process|processing|waiting|undecided|v postopku|v teku"
    "|v delu|v obdelavi|v obravnavi|obravnavi|čaka|čakajoč|nedokončan|odprt|odprti",
    "resolved|solved|fixed|closed|completed|complete|settled|done|dealt with|sorted|repaired|finished|rešeno|rešen"
    "|rešeni|rešene|rešenih|zaključen|zaključeno|zaključeni|končan|končano|odpravljeno|odpravljen|popravljeno|urejeno",
    "rejected|refused|declined|denied|turned down|dismissed|zavrnjen|zavrnjeno|zavrnjeni|zavrnjene|zavrnili|odbit"
    "|odklonjen",
    "admitted|admission|admissions|hospitalised|hospitalized|kept in|sprejet|sprejem|sprejeti|hospitaliziran",
    "approved|accepted|granted|admitted|allowed|odobren|odobreno|odobreni|sprejet|sprejeto|ugoden|ugodno rešeno"
    "|potrjen",
    "cancelled|canceled|called off|cancel|cancels|cancellation|cancellations|withdrawn|withdrew|dropped|odpovedan"
    "|odpovedano|odpovedal|odpovedali|odpovedi|odpoved|preklican|preklicano|prekinil|prekinili|stornirano",
    "dna|no show|no shows|didnt attend|did not attend|didnt turn up|did not turn up|didnt show up|did not show up"
    "|didnt come|did not come|never turned up|never showed up|failed to attend|failed to turn up|failed to show up"
    "|missed|missing|miss|absent|stood us up|ni prišel|ni prišla|niso prišli|nista prišla|se ni zglasil"
    "|se niso zglasili"
    "|izostal|izostali|neopravičen|manjkal|manjkali",
    "attended|turned up|showed up|came|kept the appointment|prišel|prišla|prišli|se je zglasil|udeležil|udeležili",
    "postponed|rescheduled|put off|moved|prestavljen|prestavljeno|preložen|prestavili|preloženo",
    "delayed|late|behind schedule|overdue|delay|delays|lateness|zamuda|zamude|zamudo|zamudil|zamudili|zamujen"
    "|zamujajo|pozen",
    "on time|punctual|in time|pravočasno|točno|pravočasen|pravočasni",
    "lost|missing|gone|izgubljen|izgubljeno|izgubljeni|pogrešan|manjka",
    "stolen|theft|thefts|robbed|burglary|ukraden|ukradeno|kraja|tatvina|tatvine|vlom",
    "damaged|damage|damages|broken|broke|faulty|defective|poškodovan|poškodovano|poškodba|pokvarjen|pokvarjeno|okvara"
    "|okvare|uničen|škoda",
    "returned|return|returns|sent back|brought back|gave back|vrnjen|vrnjeno|vrnjeni|vrnil|vrnili|vračilo|vračila"
    "|vračilo blaga",
    "replaced|replacement|exchange|exchanged|swap|swapped|zamenjan|zamenjava|zamenjali|zamenjano|menjava",
    "extended|extension|renewed|renewal|podaljšan|podaljšano|podaljšali|podaljšanje|obnovljen|obnovili|obnovitev",
    "failed|fail|fails|failure|failures|flunked|didnt pass|did not pass|unsuccessful|unsuccessfully|ni opravil"
    "|niso opravili"
    "|ni naredil|niso naredili|padel|padli|padla|neuspešen|neuspešno|neopravljen",
    "successful|success|succeeded|passed|pass|passes|uspešen|uspešno|uspešni|opravil|opravili|naredil|naredili"
    "|opravljen",
    "first attempt|first time|first try|first go|at the first attempt|on the first attempt|v prvem poskusu|prvi poskus"
    "|iz prve|v prvo|prvič|prvi rok|takoj",
    "retake|retakes|resit|resits|second attempt|second try|second time|again|repeat|ponovno|ponovni|ponavljal|drugič"
    "|v drugo|v drugem poskusu|popravni",
    "not yet taken|not yet|not taken|havent taken|have not taken|not yet tested|ni pristopil|še ni pristopil"
    "|še niso šli"
    "|še ni šel|še niso pristopili|še niso opravljali|čaka na izpit",
    "dropped out|drop out|drop outs|dropout|dropouts|gave up|quit|stopped|stopped coming|opustil|opustili|izpisal"
    "|izpisali|prenehal|prenehali|odnehal|odnehali",
    "urgent|urgently|emergency|emergencies|express|rush|rushed|pressing|asap|nujno|nujni|nujna"
    "|nujne|nujnih|urgentno|prednostno|ekspres|hitro",
    "complaint|complaints|complain|complains|complained|complaining|objection|grievance|pritožba|pritožbe|pritožil"
    "|pritožili|pritožilo|pritožujejo|pritožuje|pritožb|reklamacija|reklamacije|reklamiral|reklamirali|reklamirano"
    "|reklamacij|ugovor",
    "report|reports|reported|notification|prijava|prijave|prijavljeno|prijavil|prijavili|javil|javili|prijavljen",
    "repair|repairs|repaired|fix|fixes|fixed|fixing|mend|mended|popravilo|popravila|popravljen|popraviti|popravijo"
    "|popravili|porihtajo|porihtali|porihtat|odprava|odpravijo|odpravili|saniran|sanacija",
    "upheld|justified|successful|founded|upravičen|upravičeno|ugodeno|utemeljen",
    "warranty|guarantee|guaranteed|garancija|garancije|garancijo|jamstvo|v garanciji",
    "insurance|insured|insure|coverage|cover|zavarovanje|zavarovan|zavarovani|zavarovalnica",
    "member|members|membership|član|člani|članstvo|včlanjen|včlanjeni",
    "newsletter|mailing list|marketing consent|e novice|novice|obveščanje",
    "recommend|recommends|recommended|would recommend|priporoča|priporočajo|priporočil|priporočili|bi priporočil"
    "|bi priporočili",
    "appointment|appointments|booked|scheduled|naročen|naročeni|naročena|naročene|termin|termini|z naročilom",
    "reservation|reservations|booking|bookings|booked|rezervacija|rezervacije|rezervacij|rezerviran|rezervirali",
    "waiting list|queue|čakalna vrsta|čakalni seznam|na čakanju",
    # how good
    "very good|excellent|great|brilliant|outstanding|odlično|odličen|odlična|odlični|zelo dobro|super",
    "good|fine|ok|okay|decent|dobro|dober|dobra|dobri|v redu",
    "average|fair|so so|mediocre|povprečno|srednje|solidno",
    "bad|poor|poorly|terrible|awful|slabo|slab|slaba|slabi|zanič|grozno",
    "satisfied|happy|pleased|content|zadovoljen|zadovoljna|zadovoljni|srečen|srečni",
    "dissatisfied|unhappy|displeased|unsatisfied|nezadovoljen|nezadovoljna|nezadovoljni|nesrečen",
    "too noisy|noisy|loud|too loud|noise|hrupno|hrup|glasno|preglasno|prehrupno",
    "quiet|silent|silence|calm|tiho|mirno|tišina|mir",
    "clean|tidy|spotless|čisto|čist|čista|čistoča",
    "dirty|filthy|unclean|umazano|umazan|umazana",
    "friendly|kind|nice|polite|prijazen|prijazno|prijaznost|vljudno",
    # time of the day
    "evening|evenings|večer|zvečer|večerni|večerna",
    # food
    "vegetarian|vegetarians|veggie|no meat|meatless|vegetarijanski|vegetarijansko|vegetarijanec|vegetarijanci"
    "|brezmesni|brez mesa",
    "vegan|vegans|veganski|vegansko|vegan|vegani",
    "bread|loaf|loaves|kruh|kruha|štruca",
    "vegetable|vegetables|veg|veggies|zelenjava|zelenjave",
    "fruit|fruits|sadje|sadja",
    "meat|meats|meso|mesa|mesni",
    "milk|dairy|mleko|mlečni|mlečni izdelki|mleka",
    "cheese|cheeses|sir|siri|sira",
    "drink|drinks|beverage|beverages|pijača|pijače|pijač",
    "coffee|cafe|coffee shop|kava|kave|kavarna",
    "breakfast|breakfasts|zajtrk|zajtrki|zajtrkom",
    "lunch|lunches|kosilo|kosila|malica",
    "dinner|dinners|supper|večerja|večerje",
    "sweet|sweets|candy|dessert|desserts|cake|cakes|sladica|sladice|sladkarije|torta|torte|sladko|pecivo",
    # animals
    "dog|dogs|puppy|puppies|pup|pups|canine|doggy|pes|psi|psa|psov|psom|kuža|kuže|kuži|kužki|psiček",
    "cat|cats|kitten|kittens|kitty|feline|mačka|mačke|mačk|muca|muce|mucek|maček|mački",
    "rabbit|rabbits|bunny|bunnies|zajec|zajci|kunec|kunci|zajček|zajčki",
    "horse|horses|pony|ponies|mare|stallion|konj|konji|konja|poni|kobila",
    "bird|birds|parrot|parrots|budgie|ptica|ptice|ptič|ptiči|papiga|papige",
    "guinea pig|guinea pigs|hamster|hamsters|rodent|rodents|morski prašiček|hrček|glodavec|glodavci",
    "cow|cows|cattle|bull|calf|calves|krava|krave|govedo|tele|teleta|bik",
    "sheep|lamb|lambs|ewe|ovca|ovce|jagnje|jagnjeta",
    "pig|pigs|piglet|swine|prašič|prašiči|svinja|pujs",
    "chicken|chickens|hen|hens|poultry|kokoš|kokoši|perutnina|piščanec|kura|kure",
    "goat|goats|koza|koze|kozel",
    # places
    "centre|center|downtown|city centre|town centre|central|middle of town|center mesta|središče|središče mesta|center"
    "|mestno jedro|v mestu",
    "village|villages|rural|countryside|vas|vasi|podeželje|na vasi|na podeželju|podeželski",
    "urban|city|in the city|mestni|mesto|mestno|v mestu",
    "north|northern|sever|severni|severno|severna",
    "south|southern|jug|južni|južno|južna",
    "east|eastern|vzhod|vzhodni|vzhodno|vzhodna",
    "west|western|zahod|zahodni|zahodno|zahodna",
    "abroad|foreign|overseas|tujina|tuji|v tujini|iz tujine",
    "garden|gardens|vrt|vrtovi",
    "indoor|indoors|inside|notranji|notri|znotraj|v dvorani",
    "outdoor|outdoors|outside|zunanji|zunaj|na prostem",
    # a town's upkeep
    "road|roads|street|streets|pothole|potholes|pavement|pavements|cesta|ceste|cest|luknja|luknje|pločnik|pločniki"
    "|asfalt",
    "street lights|street light|lights|lighting|lamps|street lamps|lamp|street lighting|streetlights|streetlight"
    "|javna razsvetljava|razsvetljava|luči|svetilke|svetilka|ulična svetilka|ulične luči",
    "water|water supply|waterworks|pipes|pipe|leak|leaks|vodovod|vodovodni|vodovodna|voda|vode|cevi|puščanje",
    "sewage|sewer|sewers|sewerage|drain|drains|drainage|kanalizacija|kanalizacijo|kanali|odtok|odtoki|greznica",
    "waste|rubbish|garbage|trash|refuse|litter|bins|bin|bin collection|odpadki|odpadkov|smeti|koši|odvoz smeti"
    "|smetnjak",
    "green areas|green spaces|parks|park|grass|lawns|lawn|mowing|zelenice|zelenica|zelene površine|parki|park|trava"
    "|trave|košnja",
    "parking|parking spaces|parked|car park|parkiranje|parkirišče|parkirišča|parkirni prostor|parkirano",
    "playground|playgrounds|igrišče|igrišča",
    "planning|building permit|construction|building|gradbeno dovoljenje|gradnja|gradnje|gradbeni",
    "local community|local communities|neighbourhood|ks|krajevna skupnost|krajevne skupnosti|krajevni skupnosti"
    "|krajevno skupnost",
    # things
    "bed linen|sheets|sheet|bedding|linen|linens|bedclothes|posteljnina|posteljnine|rjuhe|rjuha",
    "towel|towels|brisača|brisače",
    "shirt|shirts|blouse|blouses|srajca|srajce|bluza",
    "suit|suits|obleka|obleke|suknjič",
    "uniform|uniforms|work clothes|workwear|uniforma|uniforme|delovna obleka|delovne obleke",
    "shoe|shoes|footwear|boots|čevelj|čevlji|obutev|škornji",
    "furniture|pohištvo|pohištva",
    "chair|chairs|stol|stoli|stolov",
    "laptop|laptops|notebook|notebooks|prenosnik|prenosniki|prenosni računalnik|prenosni računalniki",
    "computer|computers|pc|pcs|desktop|desktops|računalnik|računalniki|računalnikov|računalništvo",
    "printer|printers|printing|print|printed|tiskalnik|tiskalniki|tiskanje|tisk",
    "phone|phones|mobile|mobiles|smartphone|mobitel|mobilni telefon|telefoni",
    "television|tv|tvs|telly|televizor|televizorji|televizija",
    "washing machine|washing machines|washer|pralni stroj|pralni stroji",
    "fridge|fridges|refrigerator|freezer|hladilnik|hladilniki",
    "software|program|programs|programska oprema|programi",
    "password|passwords|login|log in|sign in|geslo|gesla|prijava v sistem",
    "network|wifi|wi fi|internet|connection|omrežje|omrežja|povezava",
    "book|books|knjiga|knjige|knjig|knjigo",
    "magazine|magazines|journal|journals|periodical|periodicals|revija|revije|revij",
    "film|films|movie|movies|dvd|dvds|filmi|film",
    "borrowing|borrow|borrows|borrowed|lending|loan|loans|izposoja|izposoje|izposojen|izposodil|izposodili|izposojeno",
    "study|studying|studies|učenje|učijo|študij|študira",
    "group work|team work|teamwork|working together|skupinsko delo|v skupini|skupinsko",
    "e book|e books|ebook|ebooks|e knjiga|e knjige|eknjiga",
    "concert|concerts|gig|gigs|koncert|koncerti|koncertov",
    "theatre|theater|play|plays|drama|gledališče|predstava|predstave|gledališka predstava",
    "exhibition|exhibitions|exhibit|razstava|razstave|razstav",
    "piano|klavir|klavirja",
    "guitar|guitars|kitara|kitare|kitaro",
    "violin|violins|violina|violine|violino",
    "singing|sing|choir|petje|pevski|zbor|poje|pojejo",
    "dance|dancing|dances|ples|plesi|plesni|pleše|plešejo",
    # sport
    "football|soccer|nogomet|nogometni|nogometaš|nogometaši|fuzbal",
    "swimming|swim|swimmers|swimmer|plavanje|plavalec|plavalci|plava|plavajo",
    "running|runner|runners|run|runs|tek|tekač|tekači|teče|tečejo",
    "basketball|košarka|košarkar|košarkarji",
    "volleyball|odbojka|odbojkar|odbojkarji",
    "tennis|tenis|tenisač|tenisači",
    "skiing|ski|skis|skier|skiers|smučanje|smučar|smučarji|smuča|smučajo",
    "hiking|hike|hikes|hiker|hikers|mountaineering|pohodništvo|pohod|pohodi|planinstvo|planinec|planinci|pohodnik"
    "|pohodniki",
    "climbing|climb|climber|climbers|plezanje|plezalec|plezalci|pleza|plezajo",
    "gym|fitness|weights|fitnes|telovadnica",
    "yoga|joga|jogo",
    "rowing|row|rower|rowers|veslanje|veslač|veslači",
    # people
    "adult|adults|grown up|grown ups|odrasel|odrasli|odrasla|odraslih",
    "child|children|kid|kids|otrok|otroci|otroški|otroška",
    "youth|youngster|youngsters|junior|juniors|teenager|teenagers|mladina|mladinski|mladinska|mladinec|mladinci"
    "|mladinke",
    "senior|seniors|elderly|senior citizens|veteran|veterans|seniorji|senior|starostnik|starostniki|veterani|veteran"
    "|veteranska",
    "single|samski|samska|sam|enoposteljna|enojna",
    "couple|couples|pair|pairs|par|pari|dva",
    "group|groups|party|parties|skupina|skupine",
    "father|dad|dads|daddy|fathers|oče|ata|ati|očka|očetje",
    "mother|mum|mom|mums|moms|mummy|mothers|mama|mati|mami|mame|matere",
    "grandparent|grandparents|gran|granny|grandma|grandpa|grandad|granddad|grandmother|grandfather|stari starši|babica"
    "|dedek|babi|dedi|nona|nono",
    "collected|picked up|collection|pick up|pickup|prevzel|prevzem|prevzame",
    "woman|women|female|females|lady|ladies|girl|girls|ženska|ženske|žensk|gospa|dekle|dekleta|punca|punce",
    "man|men|male|males|gentleman|gentlemen|boy|boys|lad|lads|guy|guys|bloke|blokes|moški|moških|gospod|fant|fantje"
    "|tip",
    "divorced|divorce|separated|ločen|ločeni|ločena|razvezan|ločitev|razveza",
    "widowed|widow|widower|widows|vdova|vdovec|vdove|ovdovel|ovdovela",
    "married|marriage|poročen|poročena|poročeni",
    "regular|regulars|loyal|frequent|stalen|stalni|stalna|redni|redna|redno",
    "occasional|occasionally|now and then|sometimes|občasen|občasno|občasni|včasih|tu in tam",
    "daily|every day|each day|dnevno|vsak dan|vsakodnevno",
    "weekly|every week|once a week|tedensko|vsak teden|enkrat na teden|enkrat tedensko",
    "monthly|every month|once a month|mesečno|vsak mesec|enkrat na mesec|enkrat mesečno",
    "never|not once|nikoli|nikdar|niti enkrat",
    "often|frequently|a lot|pogosto|velikokrat",
    "rarely|seldom|hardly ever|redko|malokrat",
    # columns
    "turnaround|tat|turnaround time|turn around|turn around time|processing time|handling time|lead time|čas obdelave"
    "|čas izvedbe",
    "temperature|hot|cold|warm|degrees|temperatura|vročina|stopinj|toplo|vroče",
    "noise|noise level|loudness|hrup|raven hrupa",
    "mileage|km driven|odometer|kilometrina|prevoženi kilometri|prevoženih",
    "pieces|pcs|items|units|articles|kosi|kosov|komadi|komadov|kos",
    "lesson|lessons|session|sessions|class|classes|hours|ura|ure|lekcija|lekcije|vadba|vadbe",
    "instalment|instalments|installment|installments|obrok|obroki|obrokov",
    "error|errors|mistake|mistakes|fault|faults|napaka|napake|napak",
    "consumption|usage|used|uses|poraba|porabljen|porabljeno|porabijo|uporaba",
    "yield|harvest|crop|crops|pridelek|pridelki|letina|pridelali",
    "audience|spectators|viewers|attendance|gledalci|občinstvo|obiskovalci",
    "staff|personnel|employees|team|osebje|zaposleni|kader",
    "room|rooms|bedroom|bedrooms|soba|sobe|sob",
    "bed|beds|postelja|postelje|ležišča",
    "floor|storey|storeys|nadstropje|nadstropja|etaža",
    "page|pages|stran|strani",
    "word|words|beseda|besede|besed",
    "gear|equipment|kit|oprema|opremo|opreme",
    "dish|meal|meals|dishes|jed|jedi|obrok|menu|meni",
    "purpose|aim|goal|namen|cilj",
    "photo|photos|picture|pictures|fotografija|fotografije|slika|slike",
    "plan|package|plans|packages|paket|paketi|tariff|tarifa",
    "shift|shifts|izmena|izmene|turnus",
    "crew|team|ekipa|posadka",
    "supplier|suppliers|vendor|dobavitelj|dobavitelji",
    "variety|varieties|sort|sorts|sorta|sorte",
)

# Where just one column of a table is of a class (by a word of its name), people ask for it in these words too.
CLASSES = (
    (
        "mode|transport|prevoz|vehicle",
        "transport|means of transport|mode of transport|way of travel|get to work|gets to work|getting to work"
        "|come to work|go to work|prevozno sredstvo|način prevoza|način potovanja",
    ),
    (
        "rating|score|satisfaction|stars|ocena|zadovoljstvo",
        "happy|happier|happiness|satisfied|satisfaction|pleased|rate|rated|rates|rating|ratings|score|scores|scored"
        "|stars"
        "|feedback|mark|marks|verdict|impressed|how good|how well|zadovoljen|zadovoljni|zadovoljna|zadovoljstvo"
        "|ocena|ocene|oceno|ocenili|ocenil|ocenjujejo|ocenjujete|mnenje|srečni|kako dobro",
    ),
    (
        "household|hh|party|guests|persons|pax|family size|group size|team size|occupants|people|oseb|gospodinjstvo"
        "|člani",
        "household size|size of household|family size|size of the family|party size|group size|family|families"
        "|household|households|party|occupants"
        "|velikost gospodinjstva|velikost skupine|družina|člani gospodinjstva",
    ),
    (
        "reason|cause|purpose|main use|motive|complaint|razlog|vzrok|namen|povod",
        "reason|reasons|why|cause|causes|purpose|motive|because|motivation|what for|razlog|razlogi|razlogov|zakaj"
        "|vzrok|vzroki"
        "|namen|povod|motiv|čemu",
    ),
    (
        "outcome|result|status|decision|resolution|state|izid|rezultat|stanje|odločitev|rešitev",
        "outcome|outcomes|result|results|decision|status|how it ended|how did it end|resolution|izid|izidi|rezultat"
        "|rezultati"
        "|odločitev|status|stanje|kako se je končalo",
    ),
    (
        "channel|via|referred by|how heard|source|booked through|way|method|način prijave|način|kanal|vir",
        "channel|channels|source|sources|referral source|who referred|referred|came to us|hear about|heard about"
        "|hear of|route"
        "|način|načini|kanal|kanali|vir|viri|po kakšni poti|kje so izvedeli",
    ),
    (
        "joined|start|started|enrolled|registered|start date|since|member since|signup|datum vpisa|vpis|začetek|od"
        "|včlanjen"
        "|pristop|naročen od|začetek tečaja",
        "join|joined|joins|joining|enrol|enroll|enrolled|enrolment|enrolments|enrollment|enrollments|sign up"
        "|signed up|signups"
        "|sign ups|began|begun|registered|registration|registrations|newcomers|start|started|starters|new starters"
        "|vpis|vpisi"
        "|vpisov|vpisan|vpisani|vpisal|vpisali|vpisalo|začel|začeli|začelo|začetek|pridružil|pridružili|včlanil"
        "|včlanili"
        "|včlanilo|prijavil|prijavili",
    ),
)
TIMED = (
    "time|times|duration|length|long|took|take|takes|lasted|last|lasts|spent|time spent|turnaround|minutes|hours|days"
    "|čas|časa|trajanje|trajalo|traja|trajajo|trajala|dolžina|cajt|cajta|cajtov|cajti|dolgo"
)
# What the rows of a table may be called, besides the words of the language (`rows`). Not taken as such where the
# table's own words say more.
SUBJECTS = {
    "en": "applicant|applicants|application|applications|attendee|attendees|audience|bill|bills|booking|bookings"
    "|borrower"
    "|borrowers|building|buildings|business|businesses|call|calls|caller|callers|camper|campers|candidate|candidates"
    "|check"
    "|child|children|claim|claims|claimant|claimants|class|classes|client|clients|clerk|clerks|complainant|complainants"
    "|contract|contracts|couple|couples|course|courses|customer|customers|deal|deals|delivery"
    "|deliveries|device|devices|donation|donations|donor|donors|enquiry|enquiries|enrolment|enrolments|event|events"
    "|file"
    "|files|folk|folks|gig|guest|guests|hire|hires|hirer|hirers|holder|holders|home|homes|household|households|incident"
    "|incidents|invoice|invoices|item|items|job|jobs|journey|journeys|learner|learners|lesson|lessons|letter|letters"
    "|loan"
    "|loans|machine|machines|meeting|meetings|member|members|message|messages|neighbour|neighbours|object|objects"
    "|operation|order|orders|owner|owners|parcel|parcels|parent|parents|participant|participants|passenger|passengers"
    "|patient|patients|payer|payers|payment|payments|performance|permit|permits|person|pet|pets|animal|animals|piece"
    "|pieces|place|places|player|players|plot|plots|policy|policies|procedure|procedures|product|products|project"
    "|projects|property|properties|pupil|pupils|purchase|purchases|question|questions|reader|readers|receipt|receipts"
    "|rental|rentals|renter|renters|reply|replies|report|reports|request|requests|reservation|reservations"
    "|respondent|respondents|response|responses|review|reviews|ride|rides|rider|riders|room|rooms|runner"
    "|runners|sale|sales|sample|samples|session|sessions|shift|shifts|show|shows|sign up|signup|site|sites|stay|stays"
    "|subscriber|subscribers|subscription|subscriptions|survey|surveys|task|tasks|teacher|teachers|tenant|tenants|test"
    "|tests|thing|things|ticket|tickets|tour|tours|trainee|trainees|transaction|transactions|traveller|travellers"
    "|treatment|treatments|trip|trips|unit|units|user|users|vehicle|vehicles|visit|visits|visitor|visitors|volunteer"
    "|volunteers|voter|voters|walker|walkers|worker|workers|youngster|household member|somebody|someone"
    "|everybody|lot|lots|bunch|crowd|entries|record|records|line|lines|instance|instances|occasion|occasions",
    "sl": "abonent|bralec|bralci|bralka|darovalec|darovalci|dogodek|dogodki|dokument|dokumenti|dopis|dopisi|dražba"
    "|družina|družine|družin|folk|folka|gledalec|gledalci|gostja|gostje|gosti|intervencija|intervencije|iskalec|iskalci"
    "|izdelek|izdelki|izlet|izleti|izletnik|izletniki|izposoja|izposoje|izpraševanec|javljanje|kandidat|kandidati"
    "|kandidatka|klic|klici|klicatelj|klicatelji|klient|klienti|kupec|kupci|kupovalec|mladostnik|mladostniki|najem"
    "|najemi"
    "|najemnik|najemniki|naloga|naloge|nalog|nalogi|naročnik|naročniki|naročnica|naročnine|nakup|nakupi|naprava|naprave"
    "|nastop|nastopi|novinec|novinci|objekt|objekti|občan|občani|obisk|obiski|obiskovalec|obiskovalci"
    "|obravnava|obravnave|odgovor|odgovori|ogled|ogledi|opravilo|opravila|paket|paketi|pacient|pacienti"
    "|pacientka|plačilo|plačila|plačnik|plačniki|pobuda|pobude|pogodba|pogodbe|pohod|pohodi|popravilo|popravila|poseg"
    "|posegi|pošiljka|pošiljke|posojilo|posojila|postopek|postopki|potnik|potniki|predmet|predmeti|pregled|pregledi"
    "|prenočitev|primer|primeri|prijava|prijave|prijavitelj|prijavitelji|prireditev|prireditve"
    "|prodaja|prodaje|projekt|projekti|prosilec|prosilci|prostovoljec|prostovoljci|račun|računi"
    "|rezervacija|rezervacije|seja|seje|servis|servisi|slušatelj|slušatelji|sporočilo|sporočila|sprejem|sprejemi"
    "|stranka"
    "|stranke|strank|študent|študentje|študentka|tečajnik|tečajniki|tečajnica|tekmovalec|tekmovalci|termin|termini|test"
    "|testi|tečaj|tečaji|turist|turisti|učenec|učenci|učenka|udeleženec|udeleženci|udeleženka|uporabnik|uporabniki"
    "|uporabnica|ura|vloga|vloge|vložek|vlagatelj|vlagatelji|volivec|volivci|vožnja|vožnje|vozilo|vozila|vprašani"
    "|vprašalnik"
    "|vprašalniki|vpis|vpisi|zadeva|zadeve|zahtevek|zahtevki|zavarovanec|zavarovanci|zapis|zapisi|žival|živali"
    "|transakcija"
    "|transakcije|krajan|krajani|stanovalec|stanovalci|član|člani|članica|anketiranec|anketiranci|oskrbovanec"
    "|oskrbovanci"
    "|pogovor|pogovori|dostava|dostave|kos|kosi|stvar|stvari|gospodinjstva|ekipa|ekipe|sodelujoči|vpisani|prijavljeni"
    "|frend|pot|poti|potovanje|potovanja|nepremičnina|nepremičnine|oglas|oglasi|ponudba|ponudbe|objava|objave",
}
