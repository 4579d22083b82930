"""Words that coreference goes by: kinds of things, people's names and kin, verbs, and what never refers."""

from __future__ import annotations

__all__ = [
    "ATTRIBUTES",
    "BOTH",
    "CHINESE_CUTS",
    "CHINESE_KINDS",
    "FEMALE",
    "FUNCTION_WORDS",
    "KINDS",
    "MALE",
    "NEVER_NAMES",
    "OBJECT_KINDS",
    "PERSON_NOUNS",
    "PLURAL_PEOPLE",
    "VERBS",
    "WIDER",
    "words",
]


def words(text: str) -> frozenset[str]:
    """The words of a text as a set, so that lists of words can be written as text."""
    return frozenset(text.split())


_KINDS: dict[str, str] = {
    "lodging": "hotel guesthouse hostel inn motel resort apartment suite suites lodge ryokan villa cabin rooms loft flat b&b airbnb "
    "accommodation room hacienda pension campsite bungalow penthouse",
    "food": "restaurant café cafe bistro trattoria osteria brasserie diner pub bar pizzeria tavern bakery steakhouse canteen deli "
    "eatery grill kitchen ramen izakaya cantina taqueria brewery winery teahouse noodles buffet",
    "shop": "shop store market boutique supermarket bookshop bookstore pharmacy outlet mall salon bazaar",
    "sight": "museum gallery park garden gardens castle palace cathedral church temple shrine tower bridge beach zoo aquarium theatre "
    "theater monument square library market stadium island lake mountain harbour harbor waterfall abbey "
    "mosque ruins fort "
    "fortress viewpoint opera chapel observatory bay canyon trail arena",
    "place": "place spot venue location area neighbourhood neighborhood city town village country region district school university "
    "college hospital clinic office gym studio farm house home station airport centre center campus street",
    "transport": "train bus flight ferry taxi tram shuttle car plane boat ship metro subway coach express railway cruise transfer van",
    "event": "concert tour festival party conference meeting workshop class course lesson match game race marathon wedding ceremony "
    "show exhibition appointment session seminar lecture trip excursion hike retreat fair parade recital "
    "interview webinar "
    "camp tournament event event performance reunion picnic",
    "work": "book novel film movie song album poem painting article paper report essay podcast series documentary play story "
    "manuscript letter email blog recipe portrait sculpture photo picture puzzle mural drawing presentation "
    "thesis draft",
    "software": "script job test tests build server database service app application library package module bug issue ticket error "
    "feature function endpoint pipeline release branch migration patch commit query table schema cluster "
    "deployment api "
    "website page container dashboard repository backup log model plugin update",
    "animal": "dog cat puppy pup doggo pooch kitty kitten horse rabbit hamster parrot bird fish turtle pony cow guinea-pig snake lizard",
    "thing": "laptop phone telescope bike bicycle camera guitar violin piano cello keyboard monitor tent jacket dress coat ring watch "
    "necklace bag backpack sofa table desk chair lamp tablet printer charger headphones speaker vase bowl "
    "mug plant tree "
    "cake soup bread wine coffee tea gift present ticket card package parcel order key keys motorcycle "
    "scooter machine "
    "toy doll puzzle kit tool bed mattress oven fridge heater router device instrument item product policy plan "
    "offer proposal contract lease loan grant scholarship account subscription project medicine drug vaccine "
    "treatment "
    "garden knee car",
    "time": "day date morning afternoon evening night weekend week month year time hour monday tuesday wednesday thursday friday saturday "
    "sunday january february march april may june july august september october november december minute "
    "minutes hours "
    "days weeks months years today tomorrow yesterday tonight noon midnight second seconds summer winter "
    "spring autumn "
    "easter christmas moment",
    "amount": "euros dollars pounds euro dollar price cost fare fee percent stars rating number total amount kilometres km miles "
    "budget lot bit couple half pair",
    "abstract": "way thing reason fact case point problem question answer kind sort part rest end side lot matter weather rain snow storm "
    "sun chance help advice news information music love life luck fun pleasure pity shame support experience "
    "feeling success "
    "work stuff truth past future world nature health time labor timeout mistake opinion view moment use need "
    "idea vision world hand mind attention difference reason everything nothing everyone someone anyone sense care",
}
KINDS: dict[str, str] = {word: kind for kind, listed in reversed(_KINDS.items()) for word in listed.split()}
"""Head noun (lower case, singular) → kind of thing."""

OBJECT_KINDS = words("lodging food shop sight place transport event work software animal thing")
"""Kinds that "it" may stand for; times, amounts and abstract nouns are never taken as antecedents of "it"."""

WIDER: dict[str, frozenset[str]] = {
    "hotel": words("lodging"),
    "accommodation": words("lodging"),
    "apartment": words("lodging"),
    "room": frozenset(),
    "restaurant": words("food"),
    "café": words("food"),
    "cafe": words("food"),
    "bar": words("food"),
    "pub": words("food"),
    "eatery": words("food"),
    "place": words("lodging food shop sight place"),
    "spot": words("lodging food shop sight place"),
    "venue": words("lodging food sight place"),
    "location": words("lodging food shop sight place"),
    "city": frozenset(),
    "shop": words("shop"),
    "store": words("shop"),
    "book": words("work"),
    "film": words("work"),
    "movie": words("work"),
    "ticket": words("software"),
    "issue": words("software"),
    "bug": words("software"),
    "event": words("event"),
    "pet": words("animal"),
}
"""Head noun of a definite noun phrase → kinds it may take up besides names that end in the very noun."""

_FEMALE_NOUNS = (
    "sister mother mom mum mama wife girlfriend daughter aunt grandmother grandma niece woman lady girl bride fiancée"
)
_MALE_NOUNS = (
    "brother father dad papa husband boyfriend son uncle grandfather grandpa nephew man gentleman boy groom fiancé"
)
_OTHER_NOUNS = (
    "cousin friend colleague boss manager teacher doctor nurse neighbour neighbor partner landlord child kid baby "
    "roommate coach tutor student client customer guest guide driver lawyer dentist therapist mentor professor "
    "director author artist writer person youngest oldest eldest ex assistant classmate teammate coworker"
)
PERSON_NOUNS: dict[str, str] = {
    **dict.fromkeys(_FEMALE_NOUNS.split(), "f"),
    **dict.fromkeys(_MALE_NOUNS.split(), "m"),
    **dict.fromkeys(_OTHER_NOUNS.split(), ""),
}
"""Noun for a person → ``"f"``, ``"m"`` or ``""`` where it says neither."""

PLURAL_PEOPLE = words(
    "parents kids children friends colleagues siblings sisters brothers sons daughters grandparents cousins people "
    "guests students"
)

FEMALE = words(
    "mary patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy sandra ashley emily donna "
    "michelle carol amanda melissa deborah stephanie rebecca laura helen sharon cynthia kathleen amy angela anna ruth "
    "brenda pamela nicole katherine catherine christine samantha debra janet carolyn rachel heather maria diane diana "
    "julie joyce victoria kelly christina joan evelyn judith megan cheryl andrea hannah jacqueline martha gloria "
    "teresa ann anne alice julia sophia sophie olivia emma ava isabella mia charlotte amelia harper abigail ella "
    "grace chloe lily zoe nora clara elena irene lucia marta sara paula eva ines carmen rosa sofia giulia chiara "
    "francesca federica ingrid astrid freya greta heidi ursula anja katja natalia olga svetlana tatiana yulia irina "
    "marina vera nina fatima aisha layla leila amira zara priya anita sunita lakshmi meera mei yuki sakura haruka "
    "naomi caroline melanie joanna lena hanna louise margaret molly ellen lucy claire kate jane beth bella daisy ruby "
    "rosie tina tara wendy sally"
)
MALE = words(
    "james robert john michael david william richard joseph thomas charles christopher daniel matthew anthony mark "
    "donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan jacob gary "
    "nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory frank alexander raymond "
    "patrick jack dennis jerry tyler aaron jose henry adam douglas nathan peter zachary kyle walter harold carl "
    "arthur roger lawrence albert joe willie bruce louis oliver liam noah ethan lucas mason logan leo max felix oscar "
    "hugo luca marco matteo giovanni pablo diego carlos juan luis miguel javier fernando antonio rafael pedro joao "
    "andre pierre jean luc antoine hans klaus jurgen stefan wolfgang dieter lars sven erik nils ivan dmitri sergei "
    "vladimir alexei boris mikhail omar ahmed mohammed muhammad ali hassan hussein ibrahim yusuf khalid raj rahul "
    "arjun vikram sanjay amit hiroshi kenji takeshi wei jun ben tom tim sam dan mike bob bill steve jim tony chris "
    "alex nick greg josh matt rob fred ted harry simon martin neil colin graham stuart ian sean connor declan aidan "
    "gavin bernard evan dave"
)
BOTH = FEMALE & MALE | words("sam alex chris kim lee robin jordan taylor casey morgan jamie pat andrea jean sasha")

FUNCTION_WORDS = words(
    "a an the this that these those my your his her its our their some any no every each all both either neither such "
    "another other i you he she it we they me him us them mine yours hers ours theirs who whom whose which what where "
    "when why how in on at by for from with without to of off over under into onto out up down about after before "
    "between among near through during until till since per via within across along around behind beside besides "
    "beyond despite except inside outside like toward towards upon than as if because although though while whereas "
    "unless whether so and or but nor yet then also too only just even still already again not n't never ever always "
    "often sometimes usually maybe perhaps please thanks thank yes no ok okay hi hello hey oh well is am are was were "
    "be been being do does did done doing have has had having will would shall should can could may might must there "
    "here now today tomorrow yesterday tonight last next ago soon later early very really quite rather more most less "
    "least much many few several enough one's 's 're 've 'll 'd 'm t s re ve ll d m don doesn didn isn wasn aren "
    "weren won wouldn can't cannot couldn shouldn instead however therefore anyway else once twice together away back "
    "home which's that's it's let's lets ever one ones someone somebody anyone anybody everyone everybody nobody "
    "something anything everything nothing"
)

VERBS = words(
    "say says said tell tells told ask asks asked think thinks thought know knows knew feel feels felt find finds "
    "found get gets got go goes went gone come comes came take takes took taken make makes made give gives gave given "
    "see sees saw seen look looks looked want wants wanted need needs needed use uses used try tries tried leave "
    "leaves left call calls called keep keeps kept let put puts begin begins began seem seems seemed help helps "
    "helped show shows showed shown hear hears heard run runs ran move moves moved live lives lived believe believes "
    "believed hold holds held bring brings brought happen happens happened write writes wrote written sit sits sat "
    "stand stands stood lose loses lost pay pays paid meet meets met include includes included continue continues "
    "continued set learn learns learned learnt lead leads led understand understood speak speaks spoke read reads "
    "spend spends spent grow grows grew open opens opened walk walks walked win wins won teach teaches taught offer "
    "offers offered remember remembers remembered consider considers considered appear appears appeared buy buys "
    "bought serve serves served die died send sends sent expect expects expected build builds built stay stays stayed "
    "fall falls fell cut reach reaches reached kill remain remains suggest suggests suggested raise raises raised "
    "pass passes passed sell sells sold require requires required decide decides decided pull pulls cost costs close "
    "closes closed start starts started fail fails failed crash crashes crashed work works worked break breaks broke "
    "broken arrive arrives arrived depart departs departed adopt adopted sign signed join joined love loves loved "
    "like likes liked hate enjoy enjoys enjoyed prefer prefers preferred recommend recommends recommended propose "
    "proposes proposed choose chooses chose chosen pick picks picked cancel cancelled canceled reserve reserves "
    "reserved visit visits visited play plays played prescribe prescribes prescribed paint painted finish finished "
    "watch watched plan planned gave eat eats ate eaten cook cooked drink drank sleep slept drive drives drove fly "
    "flies flew ride rode travel travelled lasts last lies lie sounds sound looks fits fit suits suit named titled "
    "moving going coming leaving starting running taking making getting playing working living looking using opening "
    "closing hosting offering including located based built has got sits hosted organised organized received receive "
    "receives sent joined passed passes won lost ended ends end hits hit accepts accept charges allows allow belongs "
    "helps fixed fix fixes causes caused returns returned throws threw deployed merged reviewed reported mean means "
    "meant motivate motivates motivated stores bought ordered rented shipped delivered agree agreed agrees met "
    "married moved graduated retired turned turns became become blocks blocked talked talks waits waited costs covers "
    "covered compare compared features featuring restarted cleared worn wore want wishes hope hopes hoped died born "
    "inspired helped booked bookings"
)
"""Finite and participle forms that end a noun phrase; what is as often a noun (plan, book, show) is left out where it may head one."""

NEVER_NAMES = words(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun "
    "i i'm i've i'll i'd english french german spanish italian chinese japanese american british european vegan great "
    "good perfect lovely sure yes no ok okay thanks thank hello hi hey wow cool nice fine absolutely definitely "
    "awesome amazing congrats congratulations sorry please noted done understood options option day two three four "
    "five six seven eight nine ten first second third booked confirmed swapped reserved deal agreed exactly right "
    "true alternatively otherwise wow haha lol omg yeah yep nope sounds glad happy am pm also although sincerely dear "
    "best regards note ps etc lunch dinner breakfast brunch morning afternoon evening night weekend tomorrow today "
    "yesterday tonight"
)

ATTRIBUTES = words(
    "parking wifi wi-fi internet pool price prices cost costs fee fees rating ratings reviews location check-in "
    "checkin check-out checkout pets dogs kids children accessibility lift elevator vegan vegetarian gluten-free "
    "options hours luggage cancellation refund refunds deposit availability size colour color warranty battery "
    "delivery shipping menu reservations reservation bookings seating noise view views air-conditioning aircon "
    "heating towels shuttle transfer dosage side-effects discount discounts allergies allergens dress-code"
)
"""What one asks about a thing that was just named ("What about parking?")."""

_CHINESE: dict[str, str] = {
    "lodging": "大酒店 酒店 宾馆 旅馆 民宿 客栈 旅店 度假村 青旅",
    "food": "饭店 餐厅 饭馆 咖啡馆 咖啡厅 咖啡店 茶馆 酒吧 面馆 火锅店 餐馆 小吃店 烤肉店 面包店 甜品店 酒楼 食堂",
    "shop": "书店 商场 商店 超市 药店 花店 市场",
    "sight": "博物馆 美术馆 公园 动物园 植物园 图书馆 寺 塔 教堂 剧院 体育馆 海滩 古镇 广场 故宫 展览馆",
    "place": "大学 中学 医院 诊所 公司 车站 机场 健身房 学校",
    "event": "音乐会 演唱会 展览 课程 会议 比赛 婚礼 讲座",
    "work": "小说 电影 歌曲 文章 报告",
    "thing": "自行车 手机 电脑 相机 吉他 钢琴 项链 沙发",
    "software": "脚本 服务器 数据库 接口 程序",
    "animal": "小狗 小猫 狗 猫",
}
CHINESE_KINDS: dict[str, str] = {word: kind for kind, listed in _CHINESE.items() for word in listed.split()}
CHINESE_CUTS = tuple(
    words(
        "推荐 入住 预订 预定 选择 参观 看看 我们 你们 他们 她们 昨天 今天 明天 后天 上周 下周 周末 晚上 早上 中午 下午 晚饭 "
        "午饭 可以 打算 决定 喜欢 附近 旁边 还有 或者 以及 有个 有家 一家 一个 一座 一间 那家 这家 那个 这个 去了 到了 在 去 "
        "到 住 是 了 的 和 或 与 跟 把 您 你 我 他 她 订 逛 叫 从 离 往 对 被 给 吃 买 看 过 想 要 就"
    )
)
"""Words after which a Chinese name may begin: the name is what follows the last of them."""
